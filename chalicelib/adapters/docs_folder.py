"""A folder as the target of a docs export. What was exported to it is noted in it, under `.vitto-export`."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from chalicelib.adapters.memory.docs import InMemoryDocsLedger
from chalicelib.domain.docs import FOLDERS, DocsCheckpoint, DocsFile, ScopeManifest
from chalicelib.errors import Conflict, StoreUnavailable

NOTES = ".vitto-export"
_PARTIAL = ".partial"


class DocsFolder:
    """`ports.DocsTarget`: each file is there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def destination(self, org_id: str) -> str:  # noqa: ARG002 - it is one place, and the first has it
        return str(self._folder.resolve())

    def exists(self, org_id: str) -> bool:  # noqa: ARG002 - as above
        return (self._folder / NOTES / "begun").exists()

    def create(self, org_id: str) -> None:
        if not self.exists(org_id) and (taken := [name for name in FOLDERS.values() if (self._folder / name).exists()]):
            raise Conflict(f"{self._folder} holds {', '.join(taken)}, which no export wrote: give another folder")
        _write(self._folder / NOTES / "begun", b"")

    def sync(self, org_id: str, files: Sequence[DocsFile], deletions: Sequence[str]) -> Mapping[str, str]:  # noqa: ARG002
        refused: dict[str, str] = {}
        for file in files:
            if reason := self._refusal(file.path):
                refused[file.path] = reason
            else:
                _write(self._folder / file.path, file.data)
        for path in deletions:
            if reason := self._refusal(path):
                refused[path] = reason
            else:
                self._remove(self._folder / path)
        return refused

    def _refusal(self, path: str) -> str | None:
        """Why nothing may be written there: a link would lead out of the folder."""
        inside = (self._folder / path).parent.resolve().is_relative_to(self._folder.resolve())
        return None if inside and not (self._folder / path).is_symlink() else "it leads out of the folder"

    def _remove(self, file: Path) -> None:
        file.unlink(missing_ok=True)
        for parent in file.parents:
            if parent == self._folder or not parent.is_dir() or any(parent.iterdir()):
                return
            parent.rmdir()


class DocsFolderLedger(InMemoryDocsLedger):
    """`ports.DocsLedger` in the folder itself, of the one organization that it belongs to: read once, written through."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._notes = folder / NOTES
        self._place = str(folder.resolve())
        for file in sorted((self._notes / "scopes").glob("*.json")):
            super().keep_manifest(self._place, ScopeManifest.model_validate_json(_read(file)))
        if (kept := self._notes / "checkpoint.json").exists():
            found = DocsCheckpoint.model_validate_json(_read(kept))
            self._checkpoints[self._place, found.progress.org_id] = found
        if (owner := self._notes / "owner.json").exists():
            self._owners[self._place] = json.loads(_read(owner))["organization"]

    def claim(self, destination: str, org_id: str) -> bool:
        is_own = super().claim(destination, org_id)
        if is_own:
            _write(self._notes / "owner.json", json.dumps({"organization": org_id}).encode())
        return is_own

    def keep_manifest(self, destination: str, manifest: ScopeManifest) -> None:
        file = self._notes / "scopes" / f"{hashlib.sha256(manifest.scope_key.encode()).hexdigest()}.json"
        if manifest.files:
            _write(file, manifest.model_dump_json(by_alias=True).encode())
        else:
            file.unlink(missing_ok=True)
        super().keep_manifest(destination, manifest)

    def keep(self, destination: str, checkpoint: DocsCheckpoint) -> bool:
        kept = super().keep(destination, checkpoint)
        if kept:
            said = checkpoint.model_dump_json(by_alias=True, exclude_none=True)
            _write(self._notes / "checkpoint.json", said.encode())
        return kept


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise StoreUnavailable("docs", f"{file} cannot be read ({type(error).__name__})") from error


def _write(file: Path, data: bytes) -> None:
    """The file under its name once it is whole."""
    partial = file.with_name(file.name + _PARTIAL)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        partial.replace(file)
    except OSError as error:
        raise StoreUnavailable("docs", f"{file} cannot be written ({type(error).__name__})") from error
