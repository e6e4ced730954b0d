"""`vitto backup`, `restore`, `erasures`: the truth as a file, put back without bringing back who was erased since."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn

from chalicelib.bootstrap import Container, build_ports, mongo_connection, system_clock
from chalicelib.domain.erasure import ErasureRecord
from chalicelib.settings import ErasureSettings
from vitto_tools.backup import files, log, stores
from vitto_tools.cli.target import fail, settings

OPERATOR = "vitto restore"
console = Console()
NEXT = "now empty Redis and run vitto reindex: it holds the index of what was there before"
Log = Annotated[Path | None, typer.Option("--erasures", exists=True, dir_okay=False, help="A log of vitto erasures.")]


def backup(out: Annotated[Path, typer.Argument(dir_okay=False, help="Where to write it.")]) -> None:
    """Write all of MongoDB into one file with a checksum. What is written meanwhile may be in it or not."""
    if out.exists():
        fail(f"{out} is there already")
    connection, at = mongo_connection(settings()), system_clock()
    with _shown() as advance:
        counts = files.write(out, at, stores.out_of(connection, advance))
    _say(f"{counts.total()} documents written to {out}: " + ", ".join(f"{n} {name}" for name, n in counts.items()))


def restore(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A file of vitto backup.")],
    erasures: Log = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove what is there, but for receipts of erasures.")
    ] = False,
) -> None:
    """Put a backup back, then erase again who was erased since it was made. Nobody may use the store meanwhile; a run that
    was killed is run again with --replace."""
    connection = mongo_connection(settings())
    with _bad_file():
        at, counts = files.verified(file)
        known = list(log.read(erasures)) if erasures else []
    if replace:
        stores.emptied(connection)
    elif there := stores.holds(connection):
        fail(f"the database is not empty ({', '.join(there)}); --replace removes what is there")
    with _shown(counts.total()) as advance:
        stored = stores.back_into(connection, files.documents(file), advance)
    _say(f"{stored} documents of {at:%Y-%m-%d %H:%M:%S} UTC were put back")
    _apply(_services(), known, at)


def erasures(
    out: Annotated[Path | None, typer.Option("--out", dir_okay=False, help="Write the log there.")] = None,
    apply: Annotated[
        Path | None, typer.Option("--apply", exists=True, dir_okay=False, help="Take over such a log.")
    ] = None,
    since: Annotated[datetime | None, typer.Option(help="Erase again who was erased after that time, UTC.")] = None,
) -> None:
    """Write the log of erasures, to be kept apart from backups; or, after a restore by MongoDB's own tools, take one over
    and erase again who was erased since the backup."""
    made = _services()
    if out:
        finished, open_ = log.write(out, made.personal.reapplying.known())
        _say(f"{finished} erasures written to {out}")
        if open_:
            fail(f"{open_} more are not finished yet: write the log again once they are")
    if since:
        with _bad_file():
            known = list(log.read(apply)) if apply else []
        _apply(made, known, since.replace(tzinfo=system_clock().tzinfo))
    elif apply or not out:
        fail("--apply needs --since, the time that the store was put back to; --out writes the log")


def _apply(made: Container, known: list[ErasureRecord], at: datetime) -> None:
    reapplying = made.personal.reapplying
    adopted = reapplying.adopt(known)
    done = reapplying.again(at, OPERATOR)
    things = sum(record.receipt.total for record in done)
    _say(f"{adopted} erasures taken over; {len(done)} persons erased again, {things} things of theirs")
    if any(not record.is_finished for record in done):
        _say("some wait for their second look: the worker takes it")
    _say(NEXT)


def _services() -> Container:
    """The product over the stores of the settings, which nobody uses meanwhile: so an erasure needs no grace."""
    found = settings().model_copy(update={"erasure": ErasureSettings(grace_seconds=0)})
    return Container(found, build_ports(found))


@contextmanager
def _bad_file() -> Iterator[None]:
    try:
        yield
    except files.BadBackup as error:
        fail(str(error))


@contextmanager
def _shown(total: int | None = None) -> Iterator[stores.Advanced]:
    columns = (TextColumn("documents"), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        bar = shown.add_task("", total=total)
        yield lambda done: shown.advance(bar, done)


def _say(text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (backup, restore, erasures):
        app.command()(command)
