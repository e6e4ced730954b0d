"""`ports.DocsSource` and `ports.DocsLedger`: active rows by scope and type, and what is remembered of exports."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chalicelib.adapters.docs_folder import DocsFolderLedger
from chalicelib.adapters.memory.docs import InMemoryDocsLedger, InMemoryDocsSource
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.mongo.docs import MongoDocsLedger, MongoDocsSource
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.domain.docs import (
    DocsCheckpoint,
    DocsExportProgress,
    DocsExportState,
    DocsPosition,
    DocsSelection,
    ListedFile,
    ScopeManifest,
    TypePages,
)
from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import ArchivedReason, MemoryType, Revision, Status
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.ports import DocsLedger, DocsSource, MemoryStore
from tests.building import AWKWARD_IDS, NOW, row


@dataclass(frozen=True)
class Stores:
    """What an export reads, with the rows that it sees."""

    source: DocsSource
    rows: MemoryStore


@pytest.fixture(params=["twin", "mongo"])
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "twin":
        twin = InMemoryMemoryStore()
        return Stores(InMemoryDocsSource(twin), twin)
    mongo = request.getfixturevalue("mongo")
    return Stores(MongoDocsSource(mongo), MongoMemoryStore(mongo))


@pytest.fixture(params=["twin", "folder", "mongo"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> DocsLedger:
    if request.param == "twin":
        return InMemoryDocsLedger()
    if request.param == "folder":
        return DocsFolderLedger(tmp_path)
    return MongoDocsLedger(request.getfixturevalue("mongo"))


@pytest.fixture
def place(ledger: DocsLedger, tmp_path: Path, org: str) -> str:
    """A destination of this test alone."""
    return str(tmp_path.resolve()) if isinstance(ledger, DocsFolderLedger) else f"https://docs {org}"


def scope_key(org: str, scope: Scope, scope_id: str) -> str:
    """The key of a scope."""
    return ScopeRef(org, scope, scope_id).key


def test_scopes_are_those_of_one_organization_and_kind_that_hold_an_active_row(stores: Stores, org: str) -> None:
    def of(user: str, owner: str, **fields: Any) -> None:
        stores.rows.insert([row(f"{user} of {owner}", id=new_id("mem"), org_id=owner, scope_id=user, **fields)])

    for user in AWKWARD_IDS:
        of(user, org)
    of("archived", org, status=Status.ARCHIVED)
    of("waiting", org, status=Status.QUARANTINED)
    of("design", org, scope=Scope.SPACE)
    of("theirs", f"{org}/user")
    of("theirs", f"{org}0")
    wanted = sorted(scope_key(org, Scope.USER, user) for user in AWKWARD_IDS)
    assert stores.source.scopes(org, Scope.USER) == wanted
    assert stores.source.scopes(org, Scope.SPACE) == [scope_key(org, Scope.SPACE, "design")]
    assert stores.source.scopes(org, Scope.UNIVERSE) == []
    found: list[str] = []
    while page := stores.source.scopes(org, Scope.USER, after=found[-1] if found else "", limit=5):
        found += page
    assert found == wanted


def test_rows_are_the_active_ones_of_a_type_in_the_order_of_their_ids(stores: Stores, org: str) -> None:
    revision = Revision(revision=1, content="before", edited_by="ana", edited_at=NOW)
    shown = row("one", id="mem_1", org_id=org, history=(revision,), admission={"score": 0.7}, tags=("a",))
    stores.rows.insert(
        [
            row("three", id="mem_3", org_id=org),
            shown,
            row("over", id="mem_2", org_id=org, expires_at=NOW),
            row("decided", id="mem_4", org_id=org, type=MemoryType.DECISION),
            row("old", id="mem_5", org_id=org, status=Status.ARCHIVED, archived_reason=ArchivedReason.SUPERSEDED),
            row("gone", id="mem_6", org_id=org, status=Status.ARCHIVED, archived_reason=ArchivedReason.FORGOTTEN),
            row("waiting", id="mem_7", org_id=org, status=Status.QUARANTINED),
            row("ben's", id="mem_8", org_id=org, scope_id="ben"),
            row("a rival's", id="mem_9", org_id=new_id("org")),
        ]
    )
    key = scope_key(org, Scope.USER, "ana")
    found = stores.source.rows(key, MemoryType.FACT)
    assert [one.id for one in found] == ["mem_1", "mem_2", "mem_3"]
    bare = {"embedding": None, "history": (), "admission": None}
    assert found[0] == shown.memory.model_copy(update=bare)
    assert [one.id for one in stores.source.rows(key, MemoryType.FACT, after="mem_2")] == ["mem_3"]
    assert [one.id for one in stores.source.rows(key, MemoryType.FACT, limit=1)] == ["mem_1"]
    assert stores.source.types(key) == [MemoryType.FACT, MemoryType.DECISION]


def test_count_is_of_the_selected_scopes(stores: Stores, org: str) -> None:
    scopes = ((Scope.USER, "ana"), (Scope.USER, "ben"), (Scope.SPACE, "design"), (Scope.ORGANIZATION, org))
    stores.rows.insert(
        [row(f"{n}", id=f"mem_{n}", org_id=org, scope=scope, scope_id=id_) for n, (scope, id_) in enumerate(scopes)]
    )
    assert stores.source.count(org, DocsSelection()) == 2
    assert stores.source.count(org, DocsSelection(users=True)) == 4
    assert stores.source.count(org, DocsSelection(scope=Scope.USER)) == 2
    assert stores.source.count(org, DocsSelection(scope=Scope.USER, scope_id="ana")) == 1


def manifest(org: str, scope: Scope, scope_id: str, *paths: str) -> ScopeManifest:
    """A manifest of those files."""
    files = tuple(ListedFile(path=path, sha256="ab", memories=2, tokens=30) for path in paths)
    return ScopeManifest(scope_key=scope_key(org, scope, scope_id), files=files)


def test_a_destination_belongs_to_who_claims_it_first(ledger: DocsLedger, place: str, org: str) -> None:
    assert ledger.claim(place, org)
    assert ledger.claim(place, org)
    assert not ledger.claim(place, f"{org}/x")


def test_a_manifest_is_kept_by_scope_until_it_lists_nothing(ledger: DocsLedger, place: str, org: str) -> None:
    key = scope_key(org, Scope.USER, "a.b/$c")
    assert ledger.manifest(place, key) == ScopeManifest(scope_key=key)
    for paths in (("users/x/facts.md", "users/x/index.md"), ("users/x/index.md",)):
        kept = manifest(org, Scope.USER, "a.b/$c", *paths)
        ledger.keep_manifest(place, kept)
        assert ledger.manifest(place, key) == kept
    ledger.keep_manifest(place, manifest(org, Scope.USER, "a.b/$c"))
    assert ledger.manifest(place, key).files == ()
    assert ledger.manifests(place, org, Scope.USER) == []


def test_manifests_are_listed_by_kind_in_the_order_of_scopes(ledger: DocsLedger, place: str, org: str) -> None:
    kept = [manifest(org, Scope.USER, user, f"{n}.md") for n, user in enumerate(AWKWARD_IDS)]
    for one in (*kept, manifest(org, Scope.SPACE, "design", "s.md")):
        ledger.keep_manifest(place, one)
    found: list[ScopeManifest] = []
    while page := ledger.manifests(place, org, Scope.USER, after=found[-1].scope_key if found else "", limit=5):
        found += page
    assert found == sorted(kept, key=lambda one: one.scope_key)
    assert len(ledger.manifests(place, org, Scope.SPACE)) == 1


@pytest.mark.parametrize("ledger", ["twin", "mongo"], indirect=True)
def test_another_destination_or_organization_sees_nothing(ledger: DocsLedger, place: str, org: str) -> None:
    ledger.keep_manifest(place, manifest(org, Scope.SPACE, "design", "s.md"))
    ledger.keep(place, checkpoint(org, 1))
    for other, owner in ((f"{place}/x", org), (place, f"{org}/x"), (place, f"{org}0")):
        assert ledger.manifests(other, owner, Scope.SPACE) == []
        assert ledger.checkpoint(other, owner) is None


def checkpoint(org: str, version: int, after: str = "") -> DocsCheckpoint:
    """A checkpoint of a run."""
    progress = DocsExportProgress(org_id=org, state=DocsExportState.RUNNING, total=7, started_at=NOW, destination="x")
    made = {MemoryType.FACT: TypePages(pages=2, memories=40)}
    position = DocsPosition(scope_key=f"{org}/space/x", type=MemoryType.FACT, after=after, made=made, done=False)
    return DocsCheckpoint(progress=progress, position=position, version=version)


def test_a_checkpoint_follows_the_one_before(ledger: DocsLedger, place: str, org: str) -> None:
    assert ledger.checkpoint(place, org) is None
    assert ledger.keep(place, checkpoint(org, 1, "mem_a"))
    assert ledger.keep(place, checkpoint(org, 2, "mem_b"))
    for stale in (1, 2, 4):
        assert not ledger.keep(place, checkpoint(org, stale, "mem_c"))
    assert ledger.checkpoint(place, org) == checkpoint(org, 2, "mem_b")


def test_what_a_folder_notes_is_read_again(tmp_path: Path, org: str) -> None:
    place = str(tmp_path.resolve())
    kept = manifest(org, Scope.SPACE, "design", "s.md")
    before = DocsFolderLedger(tmp_path)
    before.claim(place, org)
    before.keep_manifest(place, kept)
    before.keep(place, checkpoint(org, 1))
    after = DocsFolderLedger(tmp_path)
    assert not after.claim(place, "another")
    assert after.manifests(place, org, Scope.SPACE) == [kept]
    assert after.checkpoint(place, org) == checkpoint(org, 1)
