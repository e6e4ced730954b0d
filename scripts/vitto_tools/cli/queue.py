"""`vitto queue`: the task queue, with the stores' own credentials. It shows kinds and ids, never what a memory says."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from chalicelib.domain.tasks import kind_of
from chalicelib.ports import TaskQueue
from vitto_tools.cli.target import fail, services

queue = typer.Typer(no_args_is_help=True, help=__doc__)
console = Console()


@queue.command()
def show() -> None:
    """Show how many messages wait, are taken and are dead."""
    said = _queue().probe()
    dead = "no redrive policy: messages that fail are given out until their retention ends"
    console.print(f"{said['driver']}: {said['waiting']} waiting, {said['taken']} taken")
    console.print(f"dead: {said['dead'] if said['dead'] is not None else dead}")


@queue.command()
def dead(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="List so many at most.")] = 100,
) -> None:
    """List dead letters: id, kind and attempts."""
    table = Table("id", "kind", "attempts", box=None, header_style="bold")
    for letter in _queue().dead_letters(limit):
        table.add_row(letter.id, kind_of(letter.text), str(letter.attempts))
    console.print(table)


@queue.command()
def redrive() -> None:
    """Have all dead letters worked on again."""
    console.print(f"{_queue().redrive()} messages wait again")


def _queue() -> TaskQueue:
    found = services().ports.queue
    if found is None:
        fail("no queue is configured: what is pending waits for the worker's schedules")
    return found


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(queue, name="queue")
