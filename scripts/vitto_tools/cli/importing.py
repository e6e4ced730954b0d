"""`vitto import`: memories from a file of ours or of another system, in batches, with progress, going on where a killed run
stopped; and a report of everything that did not become a memory."""

import json
import uuid
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from vitto_tools.cli.target import Api, api, fail
from vitto_tools.importing.conversion import Circumstances, Conversion, Item, LeftOut
from vitto_tools.importing.run import Run, by_user, digest_of, next_batch, report
from vitto_tools.importing.shapes import CONVERTERS, Shape, records_of, shape_of
from vitto_tools.local.home import HOME, write_private

SHOWN_PROBLEMS = 20
console = Console()


class From(StrEnum):
    """The shape to read a file in; `auto` looks."""

    AUTO = "auto"
    MEMORIES = Shape.MEMORIES
    MESSAGES = Shape.MESSAGES
    MEM0 = Shape.MEM0
    ZEP = Shape.ZEP
    PERSON = Shape.PERSON


def import_(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSON lines, or one JSON document.")],
    from_: Annotated[From, typer.Option("--from", help="Whose shape the file has.")] = From.AUTO,
    user: Annotated[str | None, typer.Option(help="Only what the file says is this user's.")] = None,
    as_users: Annotated[bool, typer.Option(help="Each under its own user; takes a key with actAs.")] = False,
    zone: Annotated[str | None, typer.Option(help="The zone of times without one, such as Europe/Lisbon.")] = None,
    time: Annotated[str | None, typer.Option(help="The time of what has none, ISO 8601.")] = None,
    trusted: Annotated[bool, typer.Option(help="Admit whatever the scores; takes an admin.")] = False,
    report_file: Annotated[Path | None, typer.Option("--report", dir_okay=False, help="Where to, as JSON.")] = None,
    restart: Annotated[bool, typer.Option(help="Begin at the first one, whatever was done before.")] = False,
) -> None:
    """Import memories. A run that was killed goes on where it stopped; what was stored already stays one memory."""
    shape, made = _read(file, from_, Circumstances(datetime.now(UTC), _zone(zone), _time(time)))
    console.print(f"shape: {shape}", highlight=False)
    made.items = _of_users(made, user, as_users=as_users)
    target = api()
    digest = digest_of(made.items, as_users=as_users, trusted=trusted)
    state = HOME / "imports" / f"{digest}-{target.identity}.json"
    run = Run(uuid.uuid4().hex[:12]) if restart or not state.exists() else Run.read(state.read_text())
    _say_where(run, len(made.items))
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("importing", total=len(made.items), completed=run.done)
        while run.done < len(made.items):
            batch = next_batch(made.items, run.done)
            key = f"import-{run.id}-{digest}-{run.done}"
            run.take(batch, _store(target, batch, key, as_users=as_users, trusted=trusted))
            write_private(state, run.text())
            progress.advance(bar, len(batch))
    _tell(shape, made, run, report_file)
    if run.counts["invalid"] or any(one.invalid for one in made.left_out):
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import")(import_)


def _read(file: Path, from_: From, given: Circumstances) -> tuple[Shape, Conversion]:
    try:
        records, bad = records_of(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        fail(f"{file} is not UTF-8")
    shape = shape_of(records) if from_ is From.AUTO else Shape(from_.value)
    if shape is None and records:
        fail(
            "the file has none of the shapes that are known: memories, messages, mem0, zep, person; see docs/import.md"
        )
    made = CONVERTERS[shape or Shape.MEMORIES](records, given)
    made.left_out[:0] = bad
    return shape or Shape.MEMORIES, made


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError):
        fail(f"--zone {name}: there is no such zone")


def _time(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        fail(f"--time {text}: is not ISO 8601")
    if found and found.tzinfo is None:
        fail(f"--time {text}: has no zone")
    return found


def _of_users(made: Conversion, user: str | None, *, as_users: bool) -> list[Item]:
    """The items to import. What is of several users lands in one scope only where that was asked for."""
    items = [item for item in made.items if user is None or item.user == user]
    made.left_out += [
        LeftOut(item.where, "of another user than --user", item.body["content"])
        for item in made.items
        if user is not None and item.user != user
    ]
    users = sorted({item.user for item in items if item.user is not None})
    if len(users) > 1 and not as_users:
        fail(
            f"the file holds memories of {len(users)} users, and all would land in your own scope: --user NAME takes "
            "those of one, --as-users puts each under its own user, with a key that has actAs"
        )
    if users and not as_users:
        console.print(f"of user {escape(users[0])}, into your own scope", highlight=False)
    return by_user(items)


def _say_where(run: Run, total: int) -> None:
    if run.done == total and total:
        console.print(f"all {total} were imported by a run before; --restart does it again")
    elif run.done:
        console.print(f"going on at {run.done + 1} of {total}")


def _store(target: Api, batch: list[Item], key: str, *, as_users: bool, trusted: bool) -> list[dict[str, object]]:
    """The receipt of each item."""
    headers = {"Idempotency-Key": key}
    if as_users and batch[0].user is not None:
        headers["Vitto-User"] = batch[0].user.encode().decode("latin-1")  # a header is bytes
    body = {"memories": [item.body for item in batch], **({"trusted": True} if trusted else {})}
    found: list[dict[str, object]] = target.call("POST", "/engine/memories", json=body, headers=headers)["receipts"]
    return found


def _tell(shape: Shape, made: Conversion, run: Run, file: Path | None) -> None:
    told = report(shape, made, run)
    problems = [*told["leftOut"], *(one for one in run.not_taken if one["outcome"] != "duplicate")]
    for one in problems[:SHOWN_PROBLEMS]:
        console.print(f"[red]{escape('{where}: {outcome}: {reason}'.format(**one))}[/red]", highlight=False)
    if len(problems) > SHOWN_PROBLEMS:
        console.print(f"and {len(problems) - SHOWN_PROBLEMS} more; --report FILE has them all", highlight=False)
    for name, count in told["notKept"].items():
        console.print(f"not kept: {escape(name)} of {count}", highlight=False)
    if made.chunked:
        console.print(f"in pieces, being over 16 KB: {made.chunked}", highlight=False)
    counts = run.counts.copy()
    for one in told["leftOut"]:
        counts[one["outcome"]] += 1
    console.print(", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())) or "nothing to import")
    if file:
        write_private(file, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
