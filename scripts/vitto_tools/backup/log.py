"""The log of erasures: what a store knows of who was erased, to be kept apart from its backups."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from chalicelib.domain.erasure import ErasureRecord
from vitto_tools.backup.files import BadBackup
from vitto_tools.local.home import write_private


def write(file: Path, records: Iterable[ErasureRecord]) -> tuple[int, int]:
    """Write the finished ones, which name nobody, of one that was begun again the last that was; how many those are, and how
    many are not finished."""
    found = list(records)
    finished = [ended for record in found if (ended := record.last_finished)]
    lines = (json.dumps(record.model_dump(mode="json", by_alias=True, exclude_none=True)) for record in finished)
    write_private(file, "".join(f"{line}\n" for line in lines))
    return len(finished), sum(not record.is_finished for record in found)


def read(file: Path) -> Iterator[ErasureRecord]:
    """The records of a log. BadBackup names the first line that is none."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            yield ErasureRecord.model_validate_json(line)
        except ValidationError:
            raise BadBackup(f"{file}: line {number} is no receipt of an erasure") from None
