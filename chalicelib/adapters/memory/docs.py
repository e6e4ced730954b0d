"""What the docs export reads, keeps and writes to, in this process."""

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from chalicelib.domain.docs import DocsCheckpoint, DocsFile, DocsSelection, ScopeManifest, kind_range
from chalicelib.domain.memory import Memory, MemoryType, Status
from chalicelib.domain.scope import Scope
from chalicelib.ports import MemoryStore

_PAGE = 1000
_EVER = datetime.fromtimestamp(0, UTC)


class InMemoryDocsSource:
    """`ports.DocsSource` over any `MemoryStore` that is small enough to be read whole."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def scopes(self, org_id: str, kind: Scope, *, after: str = "", limit: int = 100) -> list[str]:
        low, high = kind_range(org_id, kind, after)
        return sorted({key for memory in self._active() if low < (key := memory.scope_ref.key) < high})[:limit]

    def types(self, scope_key: str) -> list[MemoryType]:
        found = {memory.type for memory in self._active() if memory.scope_ref.key == scope_key}
        return [kind for kind in MemoryType if kind in found]

    def rows(self, scope_key: str, kind: MemoryType, *, after: str = "", limit: int = 200) -> list[Memory]:
        of_scope = [memory for memory in self._active() if memory.scope_ref.key == scope_key]
        found = [m for m in of_scope if m.type is kind and m.id > after]
        bare = {"embedding": None, "history": (), "admission": None}
        return [memory.model_copy(update=bare) for memory in sorted(found, key=lambda memory: memory.id)[:limit]]

    def count(self, org_id: str, selection: DocsSelection) -> int:
        of_kinds = [m for m in self._active() if m.org_id == org_id and m.scope in selection.kinds]
        return sum(selection.scope_id in {None, memory.scope_id} for memory in of_kinds)

    def _active(self) -> list[Memory]:
        found: list[Memory] = []
        last: Memory | None = None
        while page := self._store.changed_since(_EVER, after=last, limit=_PAGE):
            last = page[-1].memory
            found += [row.memory for row in page if row.memory.status is Status.ACTIVE]
        return found


class InMemoryDocsLedger:
    """`ports.DocsLedger`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owners: dict[str, str] = {}
        self._manifests: dict[tuple[str, str], ScopeManifest] = {}
        self._checkpoints: dict[tuple[str, str], DocsCheckpoint] = {}

    def claim(self, destination: str, org_id: str) -> bool:
        with self._lock:
            return self._owners.setdefault(destination, org_id) == org_id

    def manifest(self, destination: str, scope_key: str) -> ScopeManifest:
        return self._manifests.get((destination, scope_key)) or ScopeManifest(scope_key=scope_key)

    def keep_manifest(self, destination: str, manifest: ScopeManifest) -> None:
        name = destination, manifest.scope_key
        with self._lock:
            if manifest.files:
                self._manifests[name] = manifest
            else:
                self._manifests.pop(name, None)

    def manifests(
        self, destination: str, org_id: str, kind: Scope, *, after: str = "", limit: int = 100
    ) -> list[ScopeManifest]:
        low, high = kind_range(org_id, kind, after)
        with self._lock:
            found = sorted(name for name in self._manifests if name[0] == destination and low < name[1] < high)
            return [self._manifests[name] for name in found[:limit]]

    def checkpoint(self, destination: str, org_id: str) -> DocsCheckpoint | None:
        return self._checkpoints.get((destination, org_id))

    def keep(self, destination: str, checkpoint: DocsCheckpoint) -> bool:
        name = destination, checkpoint.progress.org_id
        with self._lock:
            before = self._checkpoints.get(name)
            if checkpoint.version != (before.version if before else 0) + 1:
                return False
            self._checkpoints[name] = checkpoint
            return True


class InMemoryDocsTarget:
    """`ports.DocsTarget`; `files` is what it holds, by organization and path."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, DocsFile]] = {}

    def destination(self, org_id: str) -> str:
        return f"memory {org_id}"

    def exists(self, org_id: str) -> bool:
        return org_id in self.files

    def create(self, org_id: str) -> None:
        self.files.setdefault(org_id, {})

    def sync(self, org_id: str, files: Sequence[DocsFile], deletions: Sequence[str]) -> Mapping[str, str]:
        here = self.files[org_id]
        here |= {file.path: file for file in files}
        for path in deletions:
            here.pop(path, None)
        return {}
