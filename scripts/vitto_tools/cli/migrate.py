"""`vitto migrate`: rows of before scopes become rows of today, with the store's own credentials."""

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from chalicelib.write.migration.run import Report
from vitto_tools.cli.target import services

console = Console()


def migrate(
    organization: Annotated[
        str | None, typer.Option("--organization", help="Whose the rows are that name no organization.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
) -> None:
    """Give every row without a scope its author's user scope, and what else a row needs. Run again, it changes nothing."""
    migration = services().migration(organization)
    waiting = migration.waiting()
    with Progress(console=console, transient=True) as shown:
        bar = shown.add_task("rows", total=len(waiting))
        report = migration.run(waiting, lambda done: shown.advance(bar, done), dry=dry_run)
    for line in told(report, dry=dry_run):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if report.rows["problem"]:
        raise typer.Exit(1)


def told(report: Report, *, dry: bool) -> list[str]:
    """The report, line by line."""
    states = ", ".join(f"{count} {state}" for state, count in sorted(report.rows.items()) if state != "problem")
    lines = [f"{report.migrated} rows {'would be' if dry else 'were'} migrated" + (f": {states}" if states else "")]
    for what, counted in (("redacted", report.redacted), ("left out, no field of today", report.left_out)):
        if counted:
            lines.append(f"{what}: " + ", ".join(f"{name} ({count})" for name, count in sorted(counted.items())))
    if report.rows["problem"]:
        lines += [f"{report.rows['problem']} rows had to be left as they are:", *report.problems]
    return lines


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(migrate)
