"""`vitto indexes`, `reindex`, `calibrate`: what is done with the stores' own credentials."""

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from chalicelib.adapters.openai_embedder import OpenAIEmbedder
from chalicelib.bootstrap import Container, make_indexes
from chalicelib.domain.calibration import Calibration
from chalicelib.domain.session import is_session_key
from vitto_tools.calibration.fit import fit
from vitto_tools.cli.target import fail, services, settings
from vitto_tools.local.home import HOME, write_private

console = Console()
RESUME_SECONDS = 86400  # what was rebuilt longer ago is rebuilt again
Progressed = Callable[[int], None]


def indexes() -> None:
    """Create MongoDB's indexes where they are missing, its vector search's too, and say what state that one is in."""
    for name in make_indexes(settings()):
        console.print(name)


def reindex(
    organization: Annotated[str | None, typer.Option("--organization", help="Of this organization only.")] = None,
    embed: Annotated[
        bool, typer.Option(help="First embed again every row whose vectors are of another model.")
    ] = False,
    restart: Annotated[
        bool, typer.Option(help="Do every scope again, also those that a killed run had finished.")
    ] = False,
) -> None:
    """Rebuild Redis from MongoDB, scope by scope and session by session, while the product serves; a killed run goes on
    where it stopped.

    With --embed the queue has the memories' questions embedded again as well."""
    made = services()
    if made.ports.hot is None and not embed:
        fail("no Redis is configured: there is no index to rebuild")
    wanted = made.maintenance.indexed(organization)
    if organization is not None and not wanted:
        fail(f"nothing is kept of an organization {organization}")
    state = HOME / "reindex" / f"{_identity(made, organization, embed=embed)}.json"
    finished = set() if restart or not _is_recent(state) else set(json.loads(state.read_text()))
    left = sorted(set(wanted) - finished)
    if finished:
        console.print(f"{len(wanted) - len(left)} of {len(wanted)} scopes were done by a run before")
    rows = failed = 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("scopes", total=len(left))
        counter = progress.add_task("rows", total=None)
        for scope in left:
            done, refused = _scope(made, scope, lambda n: progress.advance(counter, n), embed=embed)
            rows, failed = rows + done, failed + refused
            finished.add(scope)
            write_private(state, json.dumps(sorted(finished)))
            progress.advance(bar)
    state.unlink(missing_ok=True)
    sessions = sum(map(is_session_key, left))
    console.print(
        f"{len(left) - sessions} scopes and {sessions} sessions, {rows} rows"
        + (f", {failed} could not be embedded" if failed else "")
    )
    if failed:
        raise typer.Exit(1)


def _identity(made: Container, organization: str | None, *, embed: bool) -> str:
    """What tells one run from another: the stores, the organization, and whether it embeds."""
    what = [made.settings.mongo.uri, made.settings.mongo.database, made.settings.redis.url, organization, embed]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def _is_recent(state: Path) -> bool:
    return state.exists() and time.time() - state.stat().st_mtime < RESUME_SECONDS


def _scope(made: Container, scope: str, advance: Progressed, *, embed: bool) -> tuple[int, int]:
    failed = 0
    if embed:
        _, failed = made.maintenance.embed_again(scope, advance)
    rows = made.maintenance.rebuild(scope, advance)
    if embed and not is_session_key(scope):
        made.deferral.write_questions_of_scope_later(scope)
    return rows, failed


def calibrate(
    model: Annotated[str, typer.Argument(help="Name of the passage model.")],
    query_model: Annotated[str, typer.Option(help="Name of the query model; the same one if left out.")] = "",
    chunk_characters: Annotated[int, typer.Option(help="Longest text that the model takes whole.")] = 2000,
    write: Annotated[Path | None, typer.Option(help="File to put the calibration into, beside those it holds.")] = None,
) -> None:
    """Measure how a model's cosines tell related texts from unrelated ones, and print its calibration."""
    embedding = settings().embedding.model_copy(update={"passage_model": model, "query_model": query_model})
    unfitted = Calibration(middle=0, width=1, chunk_characters=chunk_characters)
    fitted, report = fit(OpenAIEmbedder(embedding, unfitted), chunk_characters)
    console.print(report)
    values = {model: fitted.model_dump(by_alias=True)}
    if write is None:
        console.print_json(json.dumps(values))
        return
    known = json.loads(write.read_text()) if write.exists() else {}
    write.write_text(json.dumps(known | values, indent=2) + "\n")
    console.print(f"written to {write}; set VITTO_EMBEDDING_CALIBRATIONS={write}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (indexes, reindex, calibrate):
        app.command()(command)
