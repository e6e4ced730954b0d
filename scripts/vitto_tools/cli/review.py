"""`vitto review`, `diff`: over the HTTP API; `vitto sweep`, `purge`: what schedules do, with the stores' own credentials."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from vitto_tools.cli.target import api, path_part, services

review = typer.Typer(no_args_is_help=True, help="Quarantined memories: list them, promote, reject, undo a promote.")
console = Console()
Id = Annotated[str, typer.Argument(metavar="ID")]
Revision = Annotated[int | None, typer.Option("--revision", help="Refuse where it is not of this revision any more.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing, and say what a run would do.")]
_SHOWN_CHARACTERS = 200
_MARKS = {"same": ("", ""), "removed": ("[red strike]", "[/]"), "added": ("[green]", "[/]")}


@review.command("list")
def list_(
    everywhere: Annotated[bool, typer.Option("--all", help="Of the whole organization; takes an admin.")] = False,
) -> None:
    """List quarantined memories with why and since when they wait, newest first."""
    table = Table(Column("id", no_wrap=True), "rev", "scope", "author", "reason", "since", "content", box=None)
    path = "/engine/admin/memories" if everywhere else "/engine/memories"
    asked: dict[str, Any] = {"status": "quarantined", "limit": 200}
    while True:
        page = api().call("GET", path, params=asked)
        for memory in page["memories"]:
            table.add_row(*(escape(cell) for cell in _cells(memory)))
        if not page["cursor"]:
            break
        asked["cursor"] = page["cursor"]
    console.print(table)


def _cells(memory: dict[str, Any]) -> tuple[str, ...]:
    return (
        memory["id"],
        str(memory["revision"]),
        f"{memory['scope']} {memory['scopeId']}",
        memory["userId"],
        memory.get("quarantineReason", ""),
        memory.get("quarantinedAt", memory["createdAt"])[:10],
        memory["content"][:_SHOWN_CHARACTERS],
    )


@review.command()
def promote(id_: Id, revision: Revision = None) -> None:
    """Let a quarantined memory in."""
    _decide(id_, "promote", revision)


@review.command()
def reject(id_: Id, revision: Revision = None) -> None:
    """Remove a quarantined memory for good."""
    _decide(id_, "reject", revision)


@review.command()
def undo(id_: Id, revision: Revision = None) -> None:
    """Put a promoted memory back into quarantine."""
    _decide(id_, "undo-promote", revision)


def _decide(id_: str, decision: str, revision: int | None) -> None:
    headers = None if revision is None else {"If-Match": f'"{revision}"'}
    _print(api().call("POST", f"/engine/memories/{path_part(id_)}/{decision}", headers=headers))


def diff(
    id_: Id,
    from_: Annotated[int, typer.Argument(metavar="FROM", min=1)],
    to: Annotated[int | None, typer.Argument(metavar="TO", min=1, help="The present one if left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as it came.")] = False,
) -> None:
    """Show what changed from one revision of a memory to another."""
    asked = {"from": from_} | ({} if to is None else {"to": to})
    found = api().call("GET", f"/engine/memories/{path_part(id_)}/diff", params=asked)
    if as_json:
        _print(found)
        return
    for name in ("content", "summary"):
        if found[name]["changed"]:
            parts = (f"{_MARKS[p['kind']][0]}{escape(p['text'])}{_MARKS[p['kind']][1]}" for p in found[name]["parts"])
            console.print(f"[bold]{name}[/bold] " + "".join(parts), highlight=False)
    for sign, tags in (("-", found["tags"]["removed"]), ("+", found["tags"]["added"])):
        for tag in tags:
            console.print(f"[bold]tags[/bold] {sign}{escape(tag)}", highlight=False)
    if not any(found[name]["changed"] for name in ("content", "summary", "tags")):
        console.print(f"revisions {found['from']} and {found['to']} are the same in content, summary and tags")


def sweep(dry_run: DryRun = False) -> None:
    """Promote or delete what is in quarantine for 30 days and longer, as the monthly schedule does. Where a run was cut off,
    the next one goes on."""
    _print(services().sweep.run(dry_run=dry_run).body())


def purge(dry_run: DryRun = False) -> None:
    """Remove for good what was forgotten more than 7 days ago, as the daily schedule does."""
    _print(services().purge.run(dry_run=dry_run).body())


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(review, name="review")
    for command in (diff, sweep, purge):
        app.command()(command)


def _print(value: Any) -> None:
    console.print_json(json.dumps(value, ensure_ascii=False))
