"""`ports.BackfillStore`: rows that lack vectors by organization, vectors put beside a row, checkpoints in their order."""

from dataclasses import dataclass

import pytest

from chalicelib.adapters.memory.backfill import InMemoryBackfillStore
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.mongo.backfill import MongoBackfillStore
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.mongo.oldvectors import OldVectors
from chalicelib.domain.backfill import BackfillCheckpoint, BackfillProgress, BackfillState
from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import Embedding, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.ports import BackfillStore, MemoryStore
from tests.building import AWKWARD_IDS, EMBEDDER, NOW, chain, row
from tests.contract.racing import at_once
from tests.contract.store_steps import changed

MODEL = EMBEDDER.passage_model


@dataclass(frozen=True)
class Stores:
    """A backfill's store with the rows that it sees."""

    backfills: BackfillStore
    rows: MemoryStore


@pytest.fixture(params=["twin", "mongo"])
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "twin":
        twin = InMemoryMemoryStore()
        return Stores(InMemoryBackfillStore(twin), twin)
    mongo = request.getfixturevalue("mongo")
    return Stores(MongoBackfillStore(mongo, OldVectors(MODEL)), MongoMemoryStore(mongo))


def ids(rows: list[StoredMemory]) -> list[str]:
    """The rows' ids."""
    return [found.memory.id for found in rows]


def filled(stored: StoredMemory) -> StoredMemory:
    """The row with the vectors that it should have."""
    (vectors,) = EMBEDDER.embed_passages([stored.memory.indexed_text])
    embedding = Embedding(model=MODEL, dimensions=256, vectors=vectors)
    return StoredMemory(stored.memory.model_copy(update={"embedding": embedding}), stored.counts, stored.length)


def test_lacking_names_live_rows_without_vectors_of_the_model_of_one_organization(stores: Stores, org: str) -> None:
    other = Embedding(model="other@256", dimensions=256, vectors=(EMBEDDER.embed_query("x"),))
    stores.rows.insert(
        [
            row("none", id="mem_1", org_id=org, vectors=False),
            row("of another model", id="mem_2", org_id=org, embedding=other),
            row("waiting", id="mem_3", org_id=org, vectors=False, status=Status.QUARANTINED),
            row("archived", id="mem_4", org_id=org, vectors=False, status=Status.ARCHIVED),
            row("has them", id="mem_5", org_id=org),
            row("another's", id="mem_6", org_id=new_id("org"), vectors=False),
            row("of a longer name", id="mem_7", org_id=f"{org}/x", vectors=False),
        ]
    )
    assert ids(stores.backfills.lacking(org, MODEL)) == ["mem_1", "mem_2", "mem_3"]
    assert stores.backfills.count_lacking(org, MODEL) == 3
    assert {org, f"{org}/x"} <= set(stores.backfills.organizations(MODEL))
    assert stores.backfills.lacking(org, MODEL)[1].memory.embedding == other


def test_lacking_pages_by_id_through_awkward_ones(stores: Stores, org: str) -> None:
    wanted = [*AWKWARD_IDS, "mem_1", "mem_2"]
    stores.rows.insert([row(f"row {id_}", id=id_, org_id=org, vectors=False) for id_ in wanted])
    found: list[str] = []
    while page := stores.backfills.lacking(org, MODEL, after=found[-1] if found else "", limit=3):
        found += ids(page)
    assert sorted(found) == sorted(wanted)
    assert len(set(found)) == len(found)


def test_fill_puts_vectors_beside_a_row_and_changes_nothing_else(stores: Stores, org: str) -> None:
    bare = row("Ana lives in Porto", org_id=org, vectors=False, tags=("home",), summary="a home")
    stores.rows.insert([bare])
    assert stores.backfills.fill([filled(bare)]) == [True]
    (found,) = stores.rows.fetch(chain(org), [bare.memory.id], with_vectors=True)
    assert found == filled(bare)
    assert stores.backfills.count_lacking(org, MODEL) == 0
    assert org not in stores.backfills.organizations(MODEL)


def test_fill_leaves_a_row_alone_that_was_changed_or_removed_meanwhile(stores: Stores, org: str) -> None:
    edited, gone = (row(text, org_id=org, vectors=False) for text in ("edited", "gone"))
    stores.rows.insert([edited, gone])
    after = changed(edited, content="edited since", updated_at=NOW)
    assert stores.rows.replace(after, 1)
    assert stores.rows.purge(chain(org), gone.memory.id)
    assert stores.backfills.fill([filled(edited), filled(gone)]) == [False, False]
    (found,) = stores.rows.fetch(chain(org), [edited.memory.id], with_vectors=True)
    assert found == after


def checkpoint(org: str, version: int, after: str = "") -> BackfillCheckpoint:
    """A checkpoint of a run."""
    progress = BackfillProgress(org_id=org, model=MODEL, state=BackfillState.RUNNING, total=7, started_at=NOW)
    return BackfillCheckpoint(progress=progress, after=after, version=version)


def test_a_checkpoint_is_kept_by_organization_and_follows_the_one_before(stores: Stores, org: str) -> None:
    assert stores.backfills.checkpoint(org) is None
    assert stores.backfills.keep(checkpoint(org, 1, "mem_a"))
    assert stores.backfills.keep(checkpoint(org, 2, "mem_b"))
    assert stores.backfills.checkpoint(org) == checkpoint(org, 2, "mem_b")
    for stale in (1, 2, 4):
        assert not stores.backfills.keep(checkpoint(org, stale, "mem_c"))
    assert stores.backfills.checkpoint(org) == checkpoint(org, 2, "mem_b")
    assert stores.backfills.checkpoint(f"{org}/x") is None


def test_of_several_that_keep_the_same_version_at_once_one_wins(stores: Stores, org: str) -> None:
    for version in (1, 2):
        kept = at_once(
            *[lambda n=n, v=version: stores.backfills.keep(checkpoint(org, v, f"mem_{n}")) for n in range(6)]
        )
        assert sorted(kept) == [False] * 5 + [True]
