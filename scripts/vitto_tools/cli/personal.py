"""`vitto export-user` and `vitto erase`: what is kept of a person, given out and taken away."""

import json
import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn

from chalicelib.bootstrap import Container
from chalicelib.domain.erasure import Erasure, ErasureRecord, Person, Shared
from vitto_tools.cli.target import api, fail, path_part, services
from vitto_tools.local.home import write_private

WAIT_SECONDS = 1.0
OPERATOR = "vitto erase"
console = Console()


def export_user(
    user: Annotated[str, typer.Argument(help="Whose data.")],
    out: Annotated[Path, typer.Option("--out", dir_okay=False, help="Where to write it, one line a thing.")],
) -> None:
    """Write everything that is kept of a user, as JSON lines. A run that was killed goes on where it stopped."""
    if out.exists():
        fail(f"{out} is there already")
    part, state = out.with_name(f"{out.name}.part"), out.with_name(f"{out.name}.state")
    cursor, size, count = _resumed(part, state)
    target, path = api(), f"/engine/users/{path_part(user)}/export"
    with part.open("r+b" if part.exists() else "x+b") as file, _shown() as shown:
        part.chmod(0o600)
        file.truncate(size)
        file.seek(size)
        bar = shown.add_task("")
        while True:
            page = target.call("GET", path, params={"cursor": cursor} if cursor else {})
            file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in page["lines"]).encode())
            file.flush()
            os.fsync(file.fileno())
            count, cursor = count + len(page["lines"]), page["cursor"]
            shown.update(bar, description=f"{count} things")
            if cursor is None:
                break
            write_private(state, json.dumps({"cursor": cursor, "size": file.tell(), "count": count}))
    part.rename(out)
    state.unlink(missing_ok=True)
    console.print(f"{count} things of {user} written to {out}", highlight=False, markup=False, soft_wrap=True)


def erase(
    user: Annotated[str, typer.Argument(help="Whom to erase.")],
    organization: Annotated[str, typer.Option("--organization", help="Of which organization.")],
    shared: Annotated[
        Shared, typer.Option(help="What they wrote into shared scopes: keep it under a pseudonym, or delete.")
    ] = "keep",
    check: Annotated[bool, typer.Option("--check", help="Only search every store, and show the receipt.")] = False,
) -> None:
    """Erase a user from every store, with the stores' own credentials, and print the receipt. It waits for the second
    look; a run that was killed is gone on with by the worker, or by running it again."""
    made, person = services(), Person(organization, user)
    if not check:
        _erased(made, person, shared)
    record = made.personal.check.record(person)
    left = made.personal.check.left(person, None, lambda: False)
    body = record.receipt.model_dump(mode="json", by_alias=True, exclude_none=True)
    console.print_json(json.dumps(body | {"left": left.counts, "leftTotal": left.total}))
    if left.total:
        raise typer.Exit(1)


def _erased(made: Container, person: Person, shared: Shared) -> None:
    record = made.personal.erasing.begin(person, OPERATOR, shared)
    with _shown() as shown:
        bar = shown.add_task("")

        def progressed(one: ErasureRecord) -> None:
            shown.update(bar, description=told(one.receipt))

        while not record.is_finished:
            record = made.personal.erasing.work(record, lambda: False, progressed)
            if not record.is_finished:
                time.sleep(WAIT_SECONDS)
                record = made.personal.check.record(person)


def told(receipt: Erasure) -> str:
    """How far an erasure is."""
    waits = f", second look at {receipt.settles_at:%H:%M:%S} UTC" if receipt.state == "settling" else ""
    return f"{receipt.state}: {receipt.total} things{waits}"


def _resumed(part: Path, state: Path) -> tuple[str | None, int, int]:
    if not (part.exists() and state.exists()):
        return None, 0, 0
    said: dict[str, Any] = json.loads(state.read_text())
    console.print(f"going on behind {said['count']} things", highlight=False)
    return said["cursor"], said["size"], said["count"]


def _shown() -> Progress:
    return Progress(SpinnerColumn(), TextColumn("{task.description}"), console=console, transient=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("export-user")(export_user)
    app.command()(erase)
