"""The zip: the same bytes from the same inputs, whatever the clock and the file system say."""

import hashlib
import zipfile
from pathlib import Path

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold
_MODE = 0o644 << 16  # readable by the user that Lambda runs as


def write_archive(folder: Path, archive: Path) -> None:
    """Zip everything in `folder`, in order of names, with neither times nor owners."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as made:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _EPOCH)
            entry.external_attr = _MODE
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, file.read_bytes())


def unpack(archive: Path, folder: Path) -> None:
    """The files of an archive that was made here."""
    with zipfile.ZipFile(archive) as held:
        held.extractall(folder)


def sizes(archive: Path) -> tuple[int, int]:
    """Bytes zipped and unzipped."""
    with zipfile.ZipFile(archive) as held:
        return archive.stat().st_size, sum(entry.file_size for entry in held.infolist())


def sha256(archive: Path) -> str:
    """Its digest."""
    return hashlib.sha256(archive.read_bytes()).hexdigest()
