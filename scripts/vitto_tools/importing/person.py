"""The export of a person (`vitto export-user`): its active memories, as the API takes them."""

from typing import Any

from chalicelib.domain.claims.of_memory import with_claims
from chalicelib.domain.input import MemoryInput
from chalicelib.domain.memory import Memory, Status
from vitto_tools.importing.conversion import Circumstances, Conversion, Record

_TYPE = "memory"
_ELSEWHERE = frozenset({"scope", "scopeId", "links", "messages", "claims"})
"""Whose it is, and what leads to ids: both are others where it is imported."""
_FIELDS = tuple(info.alias or name for name, info in MemoryInput.model_fields.items())


def convert(records: list[Record], _: Circumstances) -> Conversion:
    """The active memories of the person's own scope; everything else is left out by what it is."""
    made = Conversion()
    for record in records:
        if not is_line(record.value):
            made.refuse(record, "is no line of an export of a person")
            continue
        kind = record.value["type"]
        value = record.value[kind]
        if kind != _TYPE:
            made.skip(record, f"{kind}: is no memory of the person's own")
        elif value.get("status") != Status.ACTIVE.value:
            made.skip(record, f"{value.get('status')} memory")
        else:
            made.add(record, memory(value), None)
    return made


def is_line(value: Any) -> bool:
    """Whether a record is a line of such an export."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and isinstance(value.get(kind), dict)


def memory(exported: dict[str, Any]) -> dict[str, Any]:
    """A memory of an export as the API takes it. Claims that its text makes are left to be found again, for whoever says
    "I" there."""
    found = Memory.model_validate(exported)
    said = {name: exported[name] for name in _FIELDS if name in exported and name not in _ELSEWHERE}
    if found.claims and with_claims(found.model_copy(update={"claims": ()})).claims != found.claims:
        said["claims"] = exported["claims"]
    return said
