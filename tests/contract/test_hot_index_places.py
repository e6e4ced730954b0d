"""`ports.HotIndex`: where its rows were said, and which speakers a scope has; the twin and the real index agree."""

from datetime import timedelta
from typing import Any

from chalicelib.domain.memory import Origin
from chalicelib.domain.place import Situation, place_of
from chalicelib.domain.query import Candidate, StoredMemory
from chalicelib.domain.scope import Chain, Scope
from chalicelib.ports import HotIndex
from tests.building import AWKWARD_IDS, NOW, chain, entry, row
from tests.contract.conftest import IndexUnderTest
from tests.contract.index_steps import by_text, found, gone, put, scope_of


def said(
    second: int, org: str, session: str | None = "talk", speaker: str | None = "Ana", **fields: Any
) -> StoredMemory:
    """A message about figs at a second of a session."""
    origin = Origin(session_id=session, speaker=speaker)
    return row(f"figs {second}", org_id=org, origin=origin, event_time=NOW + timedelta(seconds=second), **fields)


def positions(index: HotIndex, reader: Chain) -> dict[str, int | None]:
    """The position of each message about figs."""
    return {id_: one.situation.position for id_, one in by_text(index, reader, "figs").items() if one.situation}


def of(*rows: StoredMemory) -> list[str]:
    """Their ids."""
    return [stored.memory.id for stored in rows]


def test_a_candidate_of_either_signal_says_where_it_was_said(vector_index: IndexUnderTest, org: str) -> None:
    stored = row("Are figs ripe?", org_id=org, origin=Origin(session_id="a:b/ü", speaker="Ana Müller"))
    plain = row("Bread is warm", org_id=org)
    put(vector_index.index, stored, plain)
    for asked in ("figs", "bread"):
        for one in found(vector_index.index, chain(org), asked).values():
            kept = stored if one.id == stored.memory.id else plain
            expected = Situation(
                place_of(kept.memory), 0 if kept is stored else None, kept.length, entry(kept).event_ms
            )
            assert one.situation == expected


def test_positions_follow_event_time_and_then_the_id(text_index: IndexUnderTest, org: str) -> None:
    first, last = said(1, org, id="mem_z"), said(9, org, id="mem_a")
    together = [said(5, org, id=f"mem_{n}") for n in (2, 1, 3)]
    put(text_index.index, last, *together, first)
    ordered = of(first, together[1], together[0], together[2], last)
    assert positions(text_index.index, chain(org)) == {id_: place for place, id_ in enumerate(ordered)}


def test_sessions_of_the_same_name_in_other_scopes_count_for_nothing(text_index: IndexUnderTest, org: str) -> None:
    mine = said(5, org)
    others = [said(n, org, scope_id="bob") for n in range(3)]
    shared = [said(n, org, scope=Scope.SPACE, scope_id="red") for n in range(2)]
    put(text_index.index, *others, mine, *shared)
    assert positions(text_index.index, chain(org)) == {mine.memory.id: 0}
    reached = positions(text_index.index, chain(org, spaces=("red",)))
    assert reached == {mine.memory.id: 0, shared[0].memory.id: 0, shared[1].memory.id: 1}


def test_an_edit_moves_and_a_removal_closes_the_gap(text_index: IndexUnderTest, org: str) -> None:
    rows = [said(n, org) for n in range(3)]
    put(text_index.index, *rows)
    later = rows[0].memory.model_copy(update={"event_time": NOW + timedelta(seconds=30), "revision": 2})
    put(text_index.index, StoredMemory(later, rows[0].counts, rows[0].length))
    assert positions(text_index.index, chain(org)) == {id_: n for n, id_ in enumerate(of(rows[1], rows[2], rows[0]))}
    moved = later.model_copy(update={"origin": Origin(session_id="another"), "revision": 3})
    put(text_index.index, StoredMemory(moved, rows[0].counts, rows[0].length))
    assert positions(text_index.index, chain(org))[later.id] == 0
    text_index.index.apply([gone(rows[1], 1)])
    assert positions(text_index.index, chain(org)) == {later.id: 0, rows[2].memory.id: 0}


def test_a_rebuilt_scope_has_the_same_places(text_index: IndexUnderTest, org: str) -> None:
    rows = [said(n, org, session) for n in range(3) for session in AWKWARD_IDS]
    put(text_index.index, *rows)
    before = by_text(text_index.index, chain(org), "figs")
    token = text_index.index.begin_rebuild(scope_of(rows[0]))
    assert by_text(text_index.index, chain(org), "figs") == {}
    put(text_index.index, *reversed(rows))
    text_index.index.complete(scope_of(rows[0]), token)
    after = by_text(text_index.index, chain(org), "figs")
    assert situations(after) == situations(before)
    assert len({one.situation.place.session for one in after.values() if one.situation}) == len(AWKWARD_IDS)


def situations(candidates: dict[str, Candidate]) -> dict[str, Situation | None]:
    """Where each was said."""
    return {id_: one.situation for id_, one in candidates.items()}
