"""`vitto export-docs`: memories as a tree of Markdown files, with the stores' own credentials, at a docs service or in a
folder."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from chalicelib.adapters.docs_folder import DocsFolder, DocsFolderLedger
from chalicelib.bootstrap import Container
from chalicelib.domain.docs import DocsExportProgress, DocsExportRequest, DocsExportState
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.validation import validated
from chalicelib.export.docs.exporter import DocsExporter
from vitto_tools.cli.target import fail, services

console = Console()


def export_docs(
    to: Annotated[Path | None, typer.Option(file_okay=False, help="A folder, in place of VITTO_DOCS_URL.")] = None,
    organization: Annotated[str | None, typer.Option(help="Whose memories; needed where there are several.")] = None,
    scope: Annotated[Scope | None, typer.Option(help="Scopes of this kind alone.")] = None,
    scope_id: Annotated[str | None, typer.Option(help="This one alone, of the kind in --scope.")] = None,
    users: Annotated[bool, typer.Option(help="The scopes of users beside the others.")] = False,
    restart: Annotated[bool, typer.Option(help="Begin anew, and send unchanged files too.")] = False,
) -> None:
    """Export active memories as Markdown. What was killed goes on where it stopped; what has not changed is not sent."""
    given = {"scope": scope, "scopeId": scope_id, "users": users, "restart": restart}
    asked = validated(DocsExportRequest, {name: value for name, value in given.items() if value is not None})
    made = services()
    exporter = _into(made, to) if to else made.docs_exporter
    org_id = organization or _only_organization(made)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        progress = exporter.begin(org_id, asked)
        bar = shown.add_task("memories", total=progress.total, completed=progress.memories)
        while progress.state is DocsExportState.RUNNING:
            progress = exporter.step(org_id)
            shown.update(bar, completed=progress.memories)
    _tell(exporter, progress)
    if progress.failed:
        raise typer.Exit(1)


def _into(made: Container, folder: Path) -> DocsExporter:
    """The export into a folder."""
    p = made.ports
    return DocsExporter(
        source=p.docs_source,
        store=p.store,
        ledger=DocsFolderLedger(folder),
        target=DocsFolder(folder),
        queue=None,
        telemetry=p.telemetry,
        clock=p.clock,
    )


def _only_organization(made: Container) -> str:
    found = sorted({ScopeRef.from_key(key).org_id for key in made.ports.store.scope_keys()})
    if len(found) != 1:
        fail(
            f"there are {len(found)} organizations here: say which with --organization"
            if found
            else "nothing is stored"
        )
    return found[0]


def _tell(exporter: DocsExporter, progress: DocsExportProgress) -> None:
    after = ""
    while found := exporter.manifests(progress.org_id, after=after):
        for manifest in found:
            memories, tokens = (sum(getattr(f, name) for f in manifest.files) for name in ("memories", "tokens"))
            name = manifest.scope_key.partition("/")[2]
            _print(f"{name}: {len(manifest.files)} files, {memories} memories, {tokens} tokens")
        after = found[-1].scope_key
    for refused in progress.failures:
        _print(f"[red]not taken: {escape(refused.path)}: {escape(refused.reason)}[/red]", markup=True)
    _print(
        f"{progress.destination}: {progress.files} files, {progress.memories} memories, {progress.tokens} tokens in "
        f"{progress.scopes} scopes; {progress.sent} sent, {progress.removed} removed, {progress.failed} failed"
    )


def _print(line: str, *, markup: bool = False) -> None:
    console.print(line, highlight=False, markup=markup, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export-docs")(export_docs)
