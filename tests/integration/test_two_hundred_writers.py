"""Two hundred callers write to one scope at once, through the whole pipeline over MongoDB and Redis: no edit is lost,
nothing is there twice, and every receipt is true."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import ArchivedReason, LinkKind, Memory, Status, content_key
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.receipt import Outcome
from chalicelib.errors import InProgress, StaleRevision
from tests.building import caller
from tests.integration.arrangements import services

WRITERS, AT_ONCE = 200, 16
KINDS = 5
FIRST = datetime(2026, 3, 1, tzinfo=UTC)
BUILD = "The nightly build runs on the old server"
LONGER = f"{BUILD} in the basement"
SPACE = {"scope": "space", "scopeId": "red"}


@dataclass(frozen=True)
class Told:
    """A content that somebody wrote, and the receipt."""

    content: str
    receipt: dict[str, Any]


@dataclass
class Writers:
    """Everybody who writes; what each does depends on its number."""

    made: Container
    org: str
    edited: str = ""
    told: list[Told] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)

    def who(self, number: int, *roles: Role) -> Caller:
        """The writer of a number: a member of the space."""
        return caller(self.org, f"writer{number}", *roles, spaces=("red",))

    def write(self, who: Caller, day: int, content: str, key: str | None = None) -> Told:
        """Remember a content as of a day, asked again while the same request is under way."""
        item = {"content": content, "eventTime": (FIRST + timedelta(days=day)).isoformat(), **SPACE}
        while True:
            try:
                (receipt,) = self.made.remember.remember(who, [item], key=key, single=False)
            except InProgress:
                continue
            self.told.append(Told(content, receipt))
            return self.told[-1]

    def work(self, number: int) -> None:
        """One writer's part."""
        part = (self.say_the_same, self.say_and_correct, self.repeat, self.edit, self.correct_others)[number % KINDS]
        part(number)

    def say_the_same(self, number: int) -> None:
        """What several say word by word."""
        self.write(self.who(number), 1, f"The harbour festival number {number % 20} is in June")

    def say_and_correct(self, number: int) -> None:
        """Something of one's own, and then that it changed."""
        self.write(self.who(number), 1, f"Person{number} lives in Porto")
        self.write(self.who(number), 2, f"Person{number} moved to Lisbon")

    def repeat(self, number: int) -> None:
        """The same request twice at once, under one key."""
        with ThreadPoolExecutor(2) as pool:
            asked = [
                pool.submit(self.write, self.who(number), 1, f"Note {number} says topic{number}", "k") for _ in "ab"
            ]
        first, again = (one.result().receipt for one in asked)
        assert first == again

    def edit(self, number: int) -> None:
        """An edit of the row that many edit, made against whatever it is now."""
        who, tag = self.who(number, Role.ADMIN), f"edit{number}"
        while True:
            memory = self.made.editor.read(who, self.edited)
            try:
                self.made.editor.edit(who, self.edited, {"tags": [*memory.tags, tag]}, memory.revision)
            except StaleRevision:
                continue
            self.tags.add(tag)
            return

    def correct_others(self, number: int) -> None:
        """As an admin, what others said: a later value of the same claim, or more than the edited row says."""
        content = f"Ana lives in Town{number}" if number % 2 else LONGER
        self.write(self.who(number, Role.ADMIN), number, content)


@pytest.fixture(scope="module")
def over(mongo: MongoConnection, redis: RedisConnection) -> Writers:
    """What two hundred writers left, once all of them were done."""
    writers = Writers(services(mongo, redis), "two-hundred-writers")
    root = writers.who(-1, Role.ADMIN)
    for scope in root.chain.keys:
        writers.made.ports.hot.complete(scope)  # type: ignore[union-attr]
    writers.edited = writers.write(root, 0, BUILD).receipt["id"]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(writers.work, range(WRITERS)))
    return writers


@pytest.fixture
def rows(over: Writers) -> dict[str, Memory]:
    """Every row that a receipt names, or that is live in the scope, by its id."""
    chain = over.who(-1, Role.ADMIN).chain
    named = {told.receipt["id"] for told in over.told if told.receipt.get("id")}
    live = over.made.ports.store.rows_of_scope(chain.keys[1], limit=1000)
    found = over.made.ports.store.fetch(chain, [*named | {row.memory.id for row in live}])
    return {row.memory.id: row.memory for row in found}


def replaced_by(rows: dict[str, Memory], id_: str) -> list[str]:
    """The rows that say they took a row's place."""
    return [
        row.id for row in rows.values() for link in row.links if (link.kind, link.target) == (LinkKind.SUPERSEDES, id_)
    ]


def test_no_edit_is_lost(over: Writers, rows: dict[str, Memory]) -> None:
    assert len(over.tags) == WRITERS // KINDS
    assert over.tags <= set(rows[over.edited].tags)
    said = [rows[over.edited].content, *(earlier.content for earlier in rows[over.edited].history)]
    assert BUILD in said
    assert rows[over.edited].revision > len(over.tags)


def test_nothing_is_there_twice(rows: dict[str, Memory]) -> None:
    live = Counter(content_key(row) for row in rows.values() if row.is_live)
    assert [key for key, count in live.items() if count > 1] == []


def test_every_receipt_names_a_row_that_is_there_with_the_status_it_says(
    over: Writers, rows: dict[str, Memory]
) -> None:
    for told in over.told:
        receipt, row = told.receipt, rows[told.receipt["id"]]
        assert receipt["outcome"] in {"stored", "superseded", "updated", "duplicate", "quarantined"}, told
        if row.status is Status.ARCHIVED:  # since then
            assert row.archived_reason is ArchivedReason.SUPERSEDED, told
            assert replaced_by(rows, row.id), told
        elif "status" in receipt:
            assert receipt["status"] == row.status, told
        assert receipt.get("revision", 1) <= row.revision, told
        if receipt["outcome"] in {"stored", "superseded", "updated", "quarantined"}:
            assert told.content in {row.content, *(earlier.content for earlier in row.history)}, told


def test_every_superseded_receipt_has_retired_a_row(over: Writers, rows: dict[str, Memory]) -> None:
    corrections = [told for told in over.told if told.receipt["outcome"] == Outcome.SUPERSEDED]
    for told in corrections:
        olds = [one.target for one in rows[told.receipt["id"]].links if one.kind is LinkKind.SUPERSEDES]
        assert olds, told
        assert {rows[id_].archived_reason for id_ in olds} == {ArchivedReason.SUPERSEDED}
    assert len([told for told in corrections if told.content.endswith("moved to Lisbon")]) > 0


def test_what_many_said_is_one_row_that_every_duplicate_names(over: Writers, rows: dict[str, Memory]) -> None:
    festivals = [told for told in over.told if told.content.startswith("The harbour")]
    ids = {
        content: {told.receipt["id"] for told in festivals if told.content == content}
        for (content,) in {(told.content,) for told in festivals}
    }
    assert all(len(one) == 1 for one in ids.values())
    assert all(rows[id_].is_live and rows[id_].content == content for content, (id_,) in ids.items())
    outcomes = Counter(told.receipt["outcome"] for told in festivals)
    assert outcomes["duplicate"] == len(festivals) - len(ids)


def test_a_repeat_under_one_key_made_one_row(over: Writers, rows: dict[str, Memory]) -> None:
    notes = Counter(row.content for row in rows.values() if row.content.startswith("Note"))
    assert set(notes.values()) == {1}
    assert len(notes) == WRITERS // KINDS


def test_recall_shows_what_holds_now_alone(over: Writers) -> None:
    asked = RecallQuery(query="where does Person1 live?", min_score=0.0)
    hits = over.made.recall.recall(over.who(1), asked)["hits"]
    said = [hit["memory"]["content"] for hit in hits if hit["memory"]["content"].startswith("Person1 ")]
    superseded = [told for told in over.told if told.content == "Person1 moved to Lisbon"]
    assert superseded[0].receipt["outcome"] == "superseded"
    assert said == ["Person1 moved to Lisbon"]
