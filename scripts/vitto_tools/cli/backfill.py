"""`vitto backfill`: gives rows the vectors that they lack, with the stores' own credentials, and shows how far it is."""

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from chalicelib.domain.backfill import BackfillProgress, BackfillState
from vitto_tools.cli.target import services

console = Console()


def backfill(
    organization: Annotated[str | None, typer.Option("--organization", help="Of this organization only.")] = None,
) -> None:
    """Give every row the vectors that it lacks, in batches of 50; a run that was killed goes on where it stopped."""
    made = services().backfill
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    finished: list[BackfillProgress] = []
    with Progress(*columns, console=console, transient=True) as shown:
        for org_id in [organization] if organization else made.organizations():
            bar = shown.add_task(org_id, total=None)
            progress = made.step(org_id)
            while progress.state is BackfillState.RUNNING:
                _show(shown, bar, progress)
                progress = made.step(org_id)
            _show(shown, bar, progress)
            finished.append(progress)
    for one in finished:
        console.print(told(one), highlight=False)
    if any(one.failed for one in finished):
        raise typer.Exit(1)
    if not finished:
        console.print("every row has its vectors")


def told(progress: BackfillProgress) -> str:
    """One line of a run."""
    line = (
        f"{progress.org_id}: {progress.done} of {progress.total} rows, {progress.cut} of them cut from longer vectors"
    )
    return line + (f", {progress.failed} could not be embedded" if progress.failed else "")


def _show(shown: Progress, bar: TaskID, progress: BackfillProgress) -> None:
    shown.update(bar, total=progress.total, completed=progress.done + progress.failed)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(backfill)
