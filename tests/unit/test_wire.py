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


@pytest.mark.parametrize(
    ("model", "given", "field", "value"),
    [
        *((MemoryInput, MEMORY, "eventTime", value) for value in (0, 1_700_000_000, 1.5, "1700000000", True, [])),
        *((MemoryInput, MEMORY, "eventTime", value) for value in ("2026-03-01", "12:00Z", "2026-03-01T12:00:00", "")),
        *((MemoryInput, MEMORY, "overridable", value) for value in (1, 0, "yes", "on", "True", "1", [], {}, None)),
        *((MemoryInput, MEMORY, "importance", value) for value in ("0.5", True, None, [], 1.1, -0.1)),
        *((MemoryInput, MEMORY, "confidence", value) for value in ("0.5", False, 2)),
        *((RecallQuery, QUERY, "limit", value) for value in ("5", True, 0, 101, 1.5)),
        *((RecallQuery, QUERY, "minScore", value) for value in ("0", True, 1.1)),
    ],
)
def test_a_value_of_another_kind_is_named(
    model: type[BaseModel], given: dict[str, Any], field: str, value: Any
) -> None:
    with pytest.raises(InvalidInput) as refused:
        validated(model, given | {field: value})
    assert refused.value.field == field


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
