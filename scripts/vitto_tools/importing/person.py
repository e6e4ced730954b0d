"""From the export of a person (`vitto export-user`) to memories as the API takes them."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from chalicelib.domain.claims.of_memory import with_claims
from chalicelib.domain.input import MemoryInput
from chalicelib.domain.memory import Memory, Status

_TYPE = "memory"
_ELSEWHERE = frozenset({"scope", "scopeId", "links", "messages", "claims"})
"""Whose it is, and what leads to ids: both are others where it is imported."""
_FIELDS = tuple(info.alias or name for name, info in MemoryInput.model_fields.items())


def memories(lines: Iterable[str]) -> tuple[list[str], Counter[str]]:
    """The lines of active memories, as the API takes them, and how many others were left out, by what they are.

    ValueError says which line is none of an export."""
    taken: list[str] = []
    left_out: Counter[str] = Counter()
    for number, line in enumerate(lines, 1):
        kind, value = _read(line, number)
        if kind != _TYPE:
            left_out[kind] += 1
        elif value.get("status") != Status.ACTIVE.value:
            left_out[f"{value.get('status')} memory"] += 1
        else:
            taken.append(json.dumps(memory(value), ensure_ascii=False))
    return taken, left_out


def memory(exported: dict[str, Any]) -> dict[str, Any]:
    """A memory of an export as the API takes it. Claims that its text makes are left to be found again, for whoever says
    "I" there."""
    found = Memory.model_validate(exported)
    said = {name: exported[name] for name in _FIELDS if name in exported and name not in _ELSEWHERE}
    if found.claims and with_claims(found.model_copy(update={"claims": ()})).claims != found.claims:
        said["claims"] = exported["claims"]
    return said


def _read(line: str, number: int) -> tuple[str, dict[str, Any]]:
    try:
        value = json.loads(line)
        kind = value["type"]
        return kind, value[kind]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"line {number}: is no line of an export of a person") from None
