"""The API's own shape: one memory a record, as `POST /engine/memories` takes it, which also says what is wrong with one."""

from typing import Any

from vitto_tools.importing.conversion import Circumstances, Conversion, Record


def convert(records: list[Record], _: Circumstances) -> Conversion:
    """The records as they are; content over 16 KB in pieces."""
    made = Conversion()
    for record in records:
        value: Any = record.value
        if not isinstance(value, dict):
            made.refuse(record, "not an object")
        elif isinstance(value.get("content"), str):
            made.add(record, value, None)
        else:
            made.refuse(record, "has no text in content")
    return made
