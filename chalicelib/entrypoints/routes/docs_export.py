"""`/engine/memories/export-to-docs`: for admins, of their own organization."""

from typing import Annotated, Any, ClassVar

from chalice.app import Blueprint
from pydantic import Field

from chalicelib.domain.caller import Role
from chalicelib.domain.docs import DocsExportProgress, DocsExportRequest, ScopeReport
from chalicelib.domain.keys import key
from chalicelib.domain.scope import ScopeRef
from chalicelib.domain.wire import Wire
from chalicelib.entrypoints.contract import Answer, Gives, in_body, in_query
from chalicelib.entrypoints.http import Call, route
from chalicelib.errors import Conflict, InProgress, InvalidInput, NotFound

blueprint = Blueprint(__name__)
PATH = "/engine/memories/export-to-docs"
MOST_SCOPES = 100


class ReportQuery(Wire):
    """Which scopes of the report to show; they are in a fixed order."""

    cursor: str | None = Field(default=None, max_length=1000)
    limit: Annotated[int, Field(ge=1, le=MOST_SCOPES)] = 50


class DocsExportReport(DocsExportProgress, Answer):
    """The latest run, and what stands at the target, scope by scope."""

    said_when_null: ClassVar[tuple[str, ...]] = ("cursor",)

    scope_reports: tuple[ScopeReport, ...] = Field(description="a page of the scopes of which files stand there")
    cursor: str | None = None


@route(
    blueprint,
    PATH,
    "POST",
    in_body(DocsExportRequest, all_but_users={}, one_space={"scope": "space", "scopeId": "design"}),
    Gives(DocsExportReport),
    raises=(Conflict, InProgress, NotFound),
)
def export_to_docs(call: Call[Any, DocsExportRequest]) -> Any:
    """Begin to export the organization's active memories as documents, or go on with it. It works for a few seconds
    and leaves the rest to the queue. Scopes of users are exported only where they are asked for."""
    call.caller.require(Role.ADMIN)
    asked, org_id = call.body, call.caller.org_id
    progress = call.services.docs_exporter.start(org_id, asked)
    told = asked.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    call.services.auditor.record(call.caller, "export_to_docs", [org_id], **told)
    return _report(call, progress, ReportQuery())


@route(blueprint, PATH, "GET", in_query(ReportQuery), Gives(DocsExportReport), raises=(Conflict,))
def docs_export_progress(call: Call[ReportQuery]) -> Any:
    """How far the docs export of the organization is, and what stands at the target."""
    call.caller.require(Role.ADMIN)
    return _report(call, call.services.docs_exporter.progress(call.caller.org_id), call.query)


def _report(call: Call[Any, Any], progress: DocsExportProgress, query: ReportQuery) -> DocsExportReport:
    org_id = call.caller.org_id
    after = _key(org_id, query.cursor) if query.cursor is not None else ""
    found = call.services.docs_exporter.manifests(org_id, after=after, limit=query.limit + 1)
    shown = found[: query.limit]
    return DocsExportReport(
        **dict(progress),
        scope_reports=tuple(map(ScopeReport.of, shown)),
        cursor=shown[-1].scope_key.partition("/")[2] if len(found) > len(shown) else None,
    )


def _key(org_id: str, cursor: str) -> str:
    """The key of the scope that a cursor names: the organization is the caller's, whatever it says."""
    text = f"{key(org_id)}/{cursor}"
    try:
        if ScopeRef.from_key(text).key == text:
            return text
    except ValueError:
        pass
    raise InvalidInput("cursor", "is not a cursor of this list")
