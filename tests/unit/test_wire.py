"""What JSON says is taken for what it is: nothing is guessed from a word or a number of another kind."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from chalicelib.domain.input import MemoryInput
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.validation import validated
from chalicelib.errors import InvalidInput

MEMORY = {"content": "x"}
QUERY = {"query": "x"}


WRONG: dict[tuple[type[BaseModel], str], tuple[Any, ...]] = {
    (MemoryInput, "eventTime"): (
        0,
        1_700_000_000,
        1.5,
        "1700000000",
        True,
        [],
        "2026-03-01",
        "12:00Z",
        "2026-03-01T12:00:00",
    ),
    (MemoryInput, "overridable"): (1, 0, "yes", "on", "True", "1", [], {}, None),
    (MemoryInput, "importance"): ("0.5", True, None, [], 1.1, -0.1),
    (MemoryInput, "confidence"): ("0.5", False, 2),
    (RecallQuery, "limit"): ("5", True, 0, 101, 1.5),
    (RecallQuery, "minScore"): ("0", True, 1.1),
}


@pytest.mark.parametrize(("model", "field"), WRONG)
def test_a_value_of_another_kind_is_named(model: type[BaseModel], field: str) -> None:
    given = MEMORY if model is MemoryInput else QUERY
    for value in WRONG[model, field]:
        with pytest.raises(InvalidInput) as refused:
            validated(model, given | {field: value})
        assert refused.value.field == field, value


@pytest.mark.parametrize(
    "time", ["2026-03-01T12:00:00Z", "2026-03-01t13:00:00.000+01:00", "2026-03-01 12:00:00Z", "2026-03-01T12:00Z"]
)
def test_a_time_with_a_zone_is_taken_in_utc(time: str) -> None:
    taken = validated(MemoryInput, MEMORY | {"eventTime": time})
    assert taken.event_time == datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_numbers_and_flags_are_taken() -> None:
    memory = validated(MemoryInput, MEMORY | {"importance": 1, "overridable": False, "confidence": None})
    assert (memory.importance, memory.overridable, memory.confidence) == (1.0, False, None)
    asked = validated(RecallQuery, QUERY | {"limit": 5.0, "minScore": 0})
    assert (asked.limit, asked.min_score) == (5, 0.0)


def test_a_list_is_called_a_list_and_its_wrong_items_alone_are_named() -> None:
    with pytest.raises(InvalidInput, match="tags: Input should be a list"):
        validated(MemoryInput, MEMORY | {"tags": "home"})
    with pytest.raises(InvalidInput) as refused:
        validated(RecallQuery, QUERY | {"scopes": ["team"]})
    assert [problem["field"] for problem in refused.value.details["problems"]] == ["scopes.0"]
    with pytest.raises(InvalidInput, match="scopes: List should have at least 1 item"):
        validated(RecallQuery, QUERY | {"scopes": []})
    with pytest.raises(InvalidInput) as many:
        validated(RecallQuery, QUERY | {"scopes": ["team"] * 100})
    assert [problem["field"] for problem in many.value.details["problems"]] == [f"scopes.{n}" for n in range(20)]
