"""`vitto import`: memories from a file of JSON lines, in batches, with progress, going on where a killed run stopped."""

import hashlib
import json
import uuid
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from vitto_tools.cli.target import Api, api, fail
from vitto_tools.importing import person
from vitto_tools.local.home import HOME, write_private

BATCH = 100
BATCH_BYTES = 900_000  # a request may have 1 MB
SHOWN_PROBLEMS = 20
Shape = Literal["memories", "person"]
console = Console()


def import_(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="One memory a line, as the API takes it.")],
    shape: Annotated[
        Shape, typer.Option("--from", help="What the file is: memories, or the export of a person.")
    ] = "memories",
    trusted: Annotated[bool, typer.Option(help="Admit whatever the scores, no injection; takes an admin.")] = False,
    restart: Annotated[bool, typer.Option(help="Begin at the first line, whatever was done before.")] = False,
) -> None:
    """Import memories. A run that was killed goes on where it stopped; a line that was stored already stays one memory."""
    lines = _shaped([line for line in file.read_text(encoding="utf-8").split("\n") if line.strip()], shape)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]
    target = api()
    state = HOME / "imports" / f"{digest}-{target.identity}.json"
    run, done, counts = _new_run() if restart or not state.exists() else _read(state)
    if done == len(lines) and lines:
        console.print(f"all {done} lines were imported by a run before; --restart does it again")
    elif done:
        console.print(f"going on at line {done + 1} of {len(lines)}")
    problems: list[str] = []
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("importing", total=len(lines), completed=done)
        while done < len(lines):
            batch = _next_batch(lines, done)
            outcomes = _store(target, batch, done, f"import-{run}-{digest}-{done}", problems, trusted=trusted)
            counts.update(outcomes)
            done += len(batch)
            write_private(state, json.dumps({"run": run, "done": done, "counts": counts}))
            progress.advance(bar, len(batch))
    for problem in problems[:SHOWN_PROBLEMS]:
        console.print(f"[red]{escape(problem)}[/red]", highlight=False)
    console.print(", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())) or "nothing to import")
    if counts["invalid"]:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import")(import_)


def _shaped(lines: list[str], shape: Shape) -> list[str]:
    """The lines as memories; what is none of the file's is said."""
    if shape == "memories":
        return lines
    try:
        found, left_out = person.memories(lines)
    except ValueError as error:
        fail(str(error))
    if left_out:
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(left_out.items()))
        console.print(f"left out: {said}", highlight=False, markup=False, soft_wrap=True)
    return found


def _new_run() -> tuple[str, int, Counter[str]]:
    return uuid.uuid4().hex[:12], 0, Counter()


def _read(state: Path) -> tuple[str, int, Counter[str]]:
    said = json.loads(state.read_text())
    return said["run"], said["done"], Counter(said["counts"])


def _next_batch(lines: list[str], start: int) -> list[str]:
    """The lines from `start` that fit into one request."""
    batch: list[str] = []
    size = 0
    for line in lines[start : start + BATCH]:
        size += len(line.encode()) + 2
        if batch and size > BATCH_BYTES:
            break
        batch.append(line)
    return batch


def _store(target: Api, lines: list[str], start: int, key: str, problems: list[str], *, trusted: bool) -> list[str]:
    """The outcome of each line."""
    items: list[tuple[int, dict[str, Any]]] = []
    outcomes = ["invalid"] * len(lines)
    for i, line in enumerate(lines):
        try:
            value = json.loads(line)
        except ValueError as error:
            problems.append(f"line {start + i + 1}: not JSON ({error})")
            continue
        if isinstance(value, dict):
            items.append((i, value))
        else:
            problems.append(f"line {start + i + 1}: not an object")
    if not items:
        return outcomes
    body: dict[str, Any] = {"memories": [value for _, value in items]} | ({"trusted": True} if trusted else {})
    receipts = target.call("POST", "/engine/memories", json=body, headers={"Idempotency-Key": key})["receipts"]
    for (i, _), receipt in zip(items, receipts, strict=True):
        outcomes[i] = receipt["outcome"]
        if receipt["outcome"] == "invalid":
            problems.append(f"line {start + i + 1}: {receipt['reason']}")
    return outcomes
