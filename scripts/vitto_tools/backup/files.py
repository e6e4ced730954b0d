"""The file of a backup: gzipped lines of MongoDB's extended JSON, a head, a document a line, and an end with a checksum."""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bson import json_util

from vitto_tools.local.home import opened_private

FORMAT = "vitto-backup-1"
Document = dict[str, Any]
_EXACT = json_util.CANONICAL_JSON_OPTIONS.with_options(tz_aware=True, tzinfo=UTC)


class BadBackup(Exception):
    """The file is no backup, or not the whole of one; the message says what is wrong."""


def write(file: Path, at: datetime, documents: Iterable[tuple[str, Document]]) -> Counter[str]:
    """Write documents with the names of their collections; how many of each. The file is there once it is whole."""
    fresh, digest, counts = file.with_name(f"{file.name}.part"), hashlib.sha256(), Counter[str]()
    fresh.unlink(missing_ok=True)
    with opened_private(fresh) as raw, gzip.open(raw, "wb", compresslevel=6) as lines:

        def put(line: str) -> None:
            data = f"{line}\n".encode()
            digest.update(data)
            lines.write(data)

        put(json.dumps({"format": FORMAT, "at": at.isoformat()}))
        for collection, document in documents:
            counts[collection] += 1
            put(json_util.dumps({"collection": collection, "document": document}, json_options=_EXACT))
        lines.write(json.dumps({"documents": dict(counts), "sha256": digest.hexdigest()}).encode())
    fresh.rename(file)
    return counts


def verified(file: Path) -> tuple[datetime, Counter[str]]:
    """When the backup was begun, and how many documents of each collection it has. BadBackup where it is not whole."""
    digest, head, last = hashlib.sha256(), "", b""
    try:
        with gzip.open(file, "rb") as lines:
            for line in lines:
                if last:
                    digest.update(last)
                head, last = head or line.decode(), line
        begun, end = json.loads(head), json.loads(last)
        if begun["format"] != FORMAT:
            raise BadBackup(f"{file}: is of the format {begun['format']}, not {FORMAT}")
        if end["sha256"] != digest.hexdigest():
            raise BadBackup(f"{file}: its checksum does not hold")
        return datetime.fromisoformat(begun["at"]), Counter(end["documents"])
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise BadBackup(f"{file}: is no whole backup ({type(error).__name__})") from None


def documents(file: Path) -> Iterator[tuple[str, Document]]:
    """Every document of a verified backup, with the name of its collection."""
    with gzip.open(file, "rb") as lines:
        next(lines)
        for line in lines:
            value = json_util.loads(line.decode(), json_options=_EXACT)
            if "collection" in value:
                yield value["collection"], value["document"]
