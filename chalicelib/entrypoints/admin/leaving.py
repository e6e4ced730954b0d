"""Commands by which memories leave: as documents, as the data of a person, and with a person for good."""

import time
from typing import TYPE_CHECKING, Any

from pydantic import Field

from chalicelib.domain.docs import DocsExportRequest, DocsExportState
from chalicelib.domain.erasure import ErasureRecord, Person, Shared
from chalicelib.domain.wire import Flag, Wire
from chalicelib.entrypoints.admin.commands import Command, Object, Progress, Turn

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

BY = "vitto admin erase"
WAIT_SECONDS = 1.0  # between two looks at an erasure that waits for its second one, or that another process works on


class DocsOf(DocsExportRequest):
    """Which memories are exported."""

    organization: str = Field(min_length=1, description="Whose memories.")


class OneUser(Wire):
    """Whose data."""

    organization: str = Field(min_length=1, description="Of which organization.")
    user: str = Field(min_length=1, description="Whose data.")

    @property
    def person(self) -> Person:
        """Who that is."""
        return Person(self.organization, self.user)


class Erasing(OneUser):
    """Whom to erase, and how."""

    shared: Shared = Field(
        default="keep", description="What they wrote into shared scopes: keep it nameless, or delete."
    )
    check: Flag = Field(default=False, description="Only search every store, and give the receipt.")


def _export_docs(services: "Container", wanted: DocsOf, turn: Turn) -> Progress:
    """To the docs service of the settings; how far it is stands in the truth."""
    made, org_id = services.docs_exporter, wanted.organization
    progress = made.progress(org_id) if turn.cursor else made.begin(org_id, wanted)
    while progress.state is DocsExportState.RUNNING and not turn.time_is_up():
        progress = made.step(org_id)
    names = {"scopes", "files", "memories", "tokens", "sent", "removed", "failed", "total", "destination"}
    told: Object = progress.model_dump(mode="json", include=names)
    refused = tuple(one.model_dump(mode="json") for one in progress.failures)
    if progress.state is DocsExportState.RUNNING:
        return Progress(told, cursor={"begun": True})
    return Progress(told, refused, failed=bool(progress.failed))


def _export_user(services: "Container", wanted: OneUser, turn: Turn) -> Progress:
    """A page a slice, so that an answer is not larger than an invocation may give."""
    made, after = services.personal.export, turn.cursor.get("page")
    page = made.page(wanted.person, str(after)) if after else made.first_page(wanted.person)
    told: Object = {"things": turn.count("things") + len(page.lines)}
    return Progress(told, page.lines, cursor=told | {"page": page.cursor} if page.cursor else None)


def _erase(services: "Container", wanted: Erasing, turn: Turn) -> Progress:
    """To the end, the wait for the second look included, and then every store is searched once more."""
    erasing, person = services.personal.erasing, wanted.person
    if not (wanted.check or turn.cursor):
        erasing.begin(person, BY, wanted.shared)
    record = services.personal.check.record(person)
    while not (wanted.check or record.is_finished):
        record = erasing.work(record, turn.time_is_up)
        if record.is_finished:
            break
        if turn.time_is_up():
            return Progress(_told(record), cursor={"begun": True})
        time.sleep(WAIT_SECONDS)
        record = services.personal.check.record(person)
    left = services.personal.check.left(person, None, lambda: False)
    receipt = record.receipt.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Progress(_told(record) | {"left": left.total}, (receipt | {"left": left.counts},), failed=left.total > 0)


def _told(record: ErasureRecord) -> Object:
    return {"state": record.receipt.state.value, "things": record.receipt.total}


COMMANDS: tuple[Command[Any], ...] = (
    Command("export-docs", "Export active memories as Markdown to the docs service.", DocsOf, _export_docs),
    Command("export-user", "Give out everything that is kept of a user, a line a thing.", OneUser, _export_user),
    Command("erase", "Erase a user from every store, and give the receipt.", Erasing, _erase),
)
