"""The docs export: complete and true over a service that fails, resumable, bounded, and nothing of anyone else in it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from chalicelib.adapters.docs_service import DocsService
from chalicelib.adapters.memory.docs import InMemoryDocsTarget
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.bootstrap import Container
from chalicelib.domain.docs import DocsExportProgress, DocsExportRequest, DocsExportState, DocsFile, ScopeReport
from chalicelib.domain.memory import ArchivedReason, Link, LinkKind, MemoryType, Status
from chalicelib.domain.scope import Scope
from chalicelib.domain.succession import yielding
from chalicelib.domain.text.tokens import estimate
from chalicelib.domain.validation import validated
from chalicelib.errors import Conflict, InProgress, InvalidInput, NotFound, StoreUnavailable
from chalicelib.export.docs.exporter import DocsExporter
from chalicelib.export.docs.walking import PAGE_BYTES
from chalicelib.settings import DocsSettings
from tests.building import NOW, TestClock, chain, container, row
from tests.docs_service import TOKEN, DocsServiceStub, docs_service

ALL = DocsExportRequest()
WITH_USERS = DocsExportRequest(users=True)


class CountingTarget(InMemoryDocsTarget):
    """A target that notes what it is sent, and may be down."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[list[str]] = []
        self.down_after = 1_000_000

    def sync(self, org_id: str, files: Sequence[DocsFile], deletions: Sequence[str]) -> Mapping[str, str]:
        if len(self.sent) >= self.down_after:
            raise StoreUnavailable("docs", "told to be down")
        self.sent.append([file.path for file in files])
        return super().sync(org_id, files, deletions)

    def held(self, org: str = "acme") -> dict[str, str]:
        """The contents by path."""
        return {path: file.content for path, file in self.files.get(org, {}).items()}


@pytest.fixture
def target() -> CountingTarget:
    """Where it goes."""
    return CountingTarget()


@pytest.fixture
def services(target: CountingTarget) -> Container:
    """The services over the twins, with that target."""
    return container(docs_target=target)


def given(services: Container, content: str, **fields: Any) -> str:
    """A stored row's id."""
    stored = row(content, vectors=False, **fields)
    assert services.ports.store.insert([stored]) == [None]
    return stored.memory.id


def exported(exporter: DocsExporter, asked: DocsExportRequest = ALL, org: str = "acme") -> DocsExportProgress:
    """The progress at the end of a run."""
    progress = exporter.begin(org, asked)
    while progress.state is DocsExportState.RUNNING:
        progress = exporter.step(org)
    return progress


def test_nothing_of_another_organization_is_in_it(services: Container, target: CountingTarget) -> None:
    for org in ("acme", "rival"):
        given(services, f"{org} deploys on Fridays", org_id=org, scope=Scope.SPACE, scope_id="ops")
        given(services, f"{org} is a company", org_id=org, scope=Scope.ORGANIZATION, scope_id=org)
    exported(services.docs_exporter)
    assert target.held("rival") == {}
    assert not any("rival" in content for content in target.held().values())
    assert services.docs_exporter.manifests("rival") == []
    assert services.docs_exporter.progress("rival").state is DocsExportState.IDLE


def test_scopes_of_users_are_exported_only_where_they_are_asked_for(
    services: Container, target: CountingTarget
) -> None:
    given(services, "Ana is ill")
    given(services, "We deploy on Fridays", scope=Scope.SPACE, scope_id="ops")
    assert exported(services.docs_exporter).memories == 1
    assert target.held().keys() == {"spaces/ops/facts.md", "spaces/ops/index.md"}
    assert exported(services.docs_exporter, WITH_USERS).memories == 2
    assert "users/ana/facts.md" in target.held()


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Status.QUARANTINED},
        {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.FORGOTTEN},
        {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.SUPERSEDED},
        {"expires_at": NOW},
    ],
)
def test_what_is_not_active_never_appears(services: Container, target: CountingTarget, fields: dict[str, Any]) -> None:
    given(services, "never to be seen", **fields)
    given(services, "Ana lives in Porto")
    exported(services.docs_exporter, WITH_USERS)
    assert not any("never to be seen" in content for content in target.held().values())


def test_a_memory_that_another_has_replaced_and_that_is_not_archived_yet_does_not_appear(
    services: Container, target: CountingTarget
) -> None:
    old = row("Ana lives in Lisbon", id="mem_old", vectors=False)
    services.ports.store.insert([row("x", id="mem_0")])
    marked = yielding(old.memory, "mem_new", NOW)
    services.ports.store.insert([type(old)(marked, old.counts, old.length)])
    given(services, "Ana lives in Porto", id="mem_new", links=(Link(kind=LinkKind.SUPERSEDES, target="mem_old"),))
    exported(services.docs_exporter, WITH_USERS)
    assert "Lisbon" not in "".join(target.held().values())
    assert "Porto" in target.held()["users/ana/facts.md"]


def test_a_filter_exports_that_scope_alone(services: Container, target: CountingTarget) -> None:
    for name in ("ops", "design"):
        given(services, f"{name} meets on Mondays", scope=Scope.SPACE, scope_id=name)
    exported(services.docs_exporter, DocsExportRequest(scope=Scope.SPACE, scope_id="ops"))
    assert {path.split("/")[1] for path in target.held()} == {"ops"}
    exported(services.docs_exporter, DocsExportRequest(scope=Scope.SPACE))
    assert {path.split("/")[1] for path in target.held()} == {"ops", "design"}


def test_a_scope_that_is_none_is_said_before_anything_is_done(services: Container, target: CountingTarget) -> None:
    with pytest.raises(NotFound, match="no such scope"):
        services.docs_exporter.start("acme", DocsExportRequest(scope=Scope.SPACE, scope_id="dsign"))
    assert target.files == {}


@pytest.mark.parametrize(
    ("asked", "field"), [({"scopeId": "x"}, "scopeId"), ({"scope": "space", "users": True}, "users")]
)
def test_a_selection_that_contradicts_itself_names_the_field(asked: dict[str, Any], field: str) -> None:

    with pytest.raises(InvalidInput) as refused:
        validated(DocsExportRequest, asked)
    assert refused.value.field == field


def test_without_a_target_it_says_which_setting_is_missing() -> None:
    with pytest.raises(Conflict, match="VITTO_DOCS_URL"):
        container().docs_exporter.start("acme", ALL)


def many(services: Container, count: int, **fields: Any) -> None:
    """Rows of a space, each of about four kilobytes."""
    values = {"scope": Scope.SPACE, "scope_id": "ops"} | fields
    text = "words and more words " * 200
    services.ports.store.insert(
        [row(f"fact {n}: {text}", id=f"mem_{n:05}", vectors=False, **values) for n in range(count)]
    )


def test_pages_are_bounded_and_hold_every_memory_once(services: Container, target: CountingTarget) -> None:
    many(services, 60)
    progress = exported(services.docs_exporter)
    pages = {path: text for path, text in target.held().items() if not path.endswith("index.md")}
    assert len(pages) > 3
    assert all(len(text.encode()) <= PAGE_BYTES for text in pages.values())
    for n in range(60):
        assert sum(f"`mem_{n:05}`" in text for text in pages.values()) == 1
    assert (progress.memories, progress.files, progress.sent) == (60, len(pages) + 1, len(pages) + 1)
    assert progress.tokens == sum(estimate(text) for text in target.held().values())
    (report,) = map(ScopeReport.of, services.docs_exporter.manifests("acme"))
    assert (report.memories, report.tokens, len(report.files)) == (60, progress.tokens, len(pages) + 1)


def test_the_same_memories_give_the_same_files_and_nothing_is_sent_again(
    services: Container, target: CountingTarget
) -> None:
    many(services, 30)
    exported(services.docs_exporter)
    before, sent = target.held(), len(target.sent)
    again = exported(services.docs_exporter)
    assert (again.sent, again.removed, len(target.sent)) == (0, 0, sent)
    assert again.files == len(before)
    assert exported(services.docs_exporter, DocsExportRequest(restart=True)).sent == len(before)
    assert target.held() == before


def test_files_that_are_no_longer_there_are_removed(services: Container, target: CountingTarget) -> None:
    given(services, "We deploy on Fridays", id="mem_1", scope=Scope.SPACE, scope_id="ops")
    given(services, "Deploys are decided", id="mem_2", scope=Scope.SPACE, scope_id="ops", type=MemoryType.DECISION)
    given(services, "The logo is blue", id="mem_3", scope=Scope.SPACE, scope_id="design")
    exported(services.docs_exporter)

    spaces = chain("acme", spaces=("ops", "design"))
    for id_ in ("mem_2", "mem_3"):
        assert services.ports.store.purge(spaces, id_)
    assert exported(services.docs_exporter).removed == 3
    assert target.held().keys() == {"spaces/ops/facts.md", "spaces/ops/index.md"}
    assert len(services.docs_exporter.manifests("acme")) == 1


def test_a_run_that_was_killed_goes_on_where_it_stopped(services: Container, target: CountingTarget) -> None:
    for name in range(120):
        given(services, f"fact of space {name}", scope=Scope.SPACE, scope_id=f"s{name:03}")
    services.docs_exporter.begin("acme", ALL)
    halfway = services.docs_exporter.step("acme")
    assert halfway.state is DocsExportState.RUNNING
    assert 0 < halfway.memories < 120
    again = Container(services.settings, services.ports)
    assert again.docs_exporter.begin("acme", ALL) == halfway
    progress = exported(again.docs_exporter)
    assert (progress.memories, progress.scopes, progress.sent) == (120, 120, 240)
    sent = [path for batch in target.sent for path in batch]
    assert len(sent) == len(set(sent)) == 240


def test_two_that_work_on_the_same_run_count_it_once(services: Container, target: CountingTarget) -> None:
    many(services, 40)
    others = [Container(services.settings, services.ports).docs_exporter for _ in range(2)]
    others[0].begin("acme", ALL)
    while any(other.step("acme").state is DocsExportState.RUNNING for other in others):
        pass
    progress = others[0].progress("acme")
    assert progress.memories == 40
    assert progress.files == len(target.held())


def test_a_file_that_was_sent_by_a_run_that_died_is_removed_by_the_next(
    services: Container, target: CountingTarget, monkeypatch: pytest.MonkeyPatch
) -> None:

    given(services, "We deploy on Fridays", id="mem_1", scope=Scope.SPACE, scope_id="ops")
    services.docs_exporter.begin("acme", ALL)
    kept = services.ports.docs_ledger.keep_manifest

    def dies(destination: str, manifest: Any) -> None:
        if any(file.sha256 for file in manifest.files):
            raise StoreUnavailable("mongo", "killed here")
        kept(destination, manifest)

    monkeypatch.setattr(services.ports.docs_ledger, "keep_manifest", dies)
    with pytest.raises(StoreUnavailable):
        services.docs_exporter.step("acme")
    monkeypatch.undo()
    assert len(target.held()) == 2
    services.ports.store.purge(chain("acme", spaces=("ops",)), "mem_1")
    exported(services.docs_exporter)
    assert target.held() == {}


def test_a_request_works_a_few_seconds_and_leaves_the_rest_to_the_queue(
    services: Container, target: CountingTarget
) -> None:
    clock = services.ports.clock
    assert isinstance(clock, TestClock)
    for name in range(120):
        given(services, f"fact of space {name}", scope=Scope.SPACE, scope_id=f"s{name:03}")
    sync = target.sync

    def slow(*arguments: Any) -> Any:
        clock.forward(seconds=6)
        return sync(*arguments)

    target.sync = slow  # type: ignore[method-assign,assignment]
    started = services.docs_exporter.start("acme", ALL)
    assert started.state is DocsExportState.RUNNING
    assert len(target.sent) == 1
    while services.docs_exporter.progress("acme").state is DocsExportState.RUNNING:
        clock.forward(seconds=2)
        assert services.consumer.drain().failed == 0
    assert services.docs_exporter.progress("acme").memories == 120


def test_a_target_that_is_down_stops_it_with_the_reason_and_it_goes_on_later(
    services: Container, target: CountingTarget
) -> None:
    clock, telemetry = services.ports.clock, services.ports.telemetry
    assert isinstance(clock, TestClock)
    assert isinstance(telemetry, RecordedTelemetry)
    given(services, "We deploy on Fridays", scope=Scope.SPACE, scope_id="ops")
    target.down_after = 0
    progress = services.docs_exporter.start("acme", ALL)
    assert progress.state is DocsExportState.RUNNING
    assert progress.problem == "docs is unavailable: told to be down"
    assert services.docs_exporter.progress("acme").problem == progress.problem
    clock.forward(seconds=2)
    assert services.consumer.drain().failed == 1
    target.down_after = 99
    clock.forward(minutes=1)
    assert services.consumer.drain().done == 1
    assert services.docs_exporter.progress("acme").state is DocsExportState.FINISHED
    assert services.docs_exporter.progress("acme").problem is None
    assert [name for name, _ in telemetry.events if name.startswith("docs")] == ["docs_export_paused"] * 2


def test_an_export_of_other_scopes_waits_for_the_one_under_way_unless_it_restarts(services: Container) -> None:
    given(services, "We deploy on Fridays", scope=Scope.SPACE, scope_id="ops")
    services.docs_exporter.begin("acme", ALL)
    with pytest.raises(InProgress):
        services.docs_exporter.start("acme", WITH_USERS)
    restarted = services.docs_exporter.start("acme", DocsExportRequest(users=True, restart=True))
    assert restarted.selection.users
    assert restarted.state is DocsExportState.FINISHED


def test_a_place_that_was_lost_is_filled_again(services: Container, target: CountingTarget) -> None:
    given(services, "We deploy on Fridays", scope=Scope.SPACE, scope_id="ops")
    exported(services.docs_exporter)
    before = target.held()
    target.files.clear()
    assert exported(services.docs_exporter).sent == 2
    assert target.held() == before


@pytest.fixture
def stub() -> Iterator[DocsServiceStub]:
    """A docs service over real HTTP."""
    with docs_service() as told:
        yield told


def over_http(stub: DocsServiceStub, project: str = "vitto-memory") -> Container:
    """The services with that docs service as the target."""
    settings = DocsSettings(url=stub.url, token=TOKEN, project=project)
    return container(docs_target=DocsService(settings, lambda _: None))


def test_over_a_service_that_fails_every_third_request_it_is_complete_without_duplicates_and_true(
    stub: DocsServiceStub,
) -> None:
    services = over_http(stub)
    stub.fails_each = 3
    many(services, 90)
    for name in range(60):
        given(services, f"fact of space {name}", scope=Scope.SPACE, scope_id=f"s{name:03}")
    progress = exported(services.docs_exporter)
    here = stub.projects["vitto-memory"]
    assert (progress.memories, progress.total, progress.failed) == (150, 150, 0)
    assert len(here) == progress.files == progress.sent
    assert progress.tokens == sum(map(estimate, here.values()))
    for n in range(90):
        assert sum(f"`mem_{n:05}`" in text for text in here.values()) == 1
    listed = {file.path for manifest in services.docs_exporter.manifests("acme") for file in manifest.files}
    assert listed == here.keys()
    assert len(stub.requests) >= 8
    assert exported(services.docs_exporter).sent == 0


def test_a_file_that_the_service_refuses_is_named_and_tried_again(stub: DocsServiceStub) -> None:
    services = over_http(stub)
    for name in ("ops", "design"):
        given(services, f"{name} meets on Mondays", scope=Scope.SPACE, scope_id=name)
    stub.refuses = lambda path: "too loud" if path == "spaces/ops/facts.md" else None
    progress = exported(services.docs_exporter)
    assert (progress.failed, progress.sent, progress.state) == (1, 3, DocsExportState.FINISHED)
    assert [(one.path, one.reason) for one in progress.failures] == [("spaces/ops/facts.md", "too loud")]
    stub.refuses = lambda _: None
    assert exported(services.docs_exporter).sent == 1
    assert len(stub.projects["vitto-memory"]) == 4


def test_a_project_belongs_to_the_organization_that_was_there_first(stub: DocsServiceStub) -> None:
    services = over_http(stub)
    for org in ("acme", "rival"):
        given(services, f"{org} deploys", org_id=org, scope=Scope.SPACE, scope_id="ops")
    exported(services.docs_exporter)
    with pytest.raises(Conflict, match="organization"):
        services.docs_exporter.start("rival", ALL)
    assert "rival" not in "".join(stub.projects["vitto-memory"].values())
    own = Container(services.settings, over_http(stub, "memory of {organization}").ports)
    given(own, "rival deploys", org_id="rival", scope=Scope.SPACE, scope_id="ops")
    exported(own.docs_exporter, org="rival")
    assert stub.projects.keys() == {"vitto-memory", "memory of rival"}


def test_a_step_sends_what_it_has_after_a_few_seconds_of_reading(
    services: Container, target: CountingTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = services.ports.clock
    assert isinstance(clock, TestClock)
    for name in range(4):
        given(services, f"fact of space {name}", scope=Scope.SPACE, scope_id=f"s{name}")
    types = services.ports.docs_source.types

    def slow(scope_key: str) -> list[MemoryType]:
        clock.forward(seconds=2)
        return types(scope_key)

    monkeypatch.setattr(services.ports.docs_source, "types", slow)
    services.docs_exporter.begin("acme", ALL)
    assert services.docs_exporter.step("acme").memories == 2
    assert exported(services.docs_exporter).memories == 4
