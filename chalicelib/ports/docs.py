"""The docs export: what it reads, where it writes, and what it remembers of both."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from chalicelib.domain.docs import DocsCheckpoint, DocsFile, DocsSelection, ScopeManifest
from chalicelib.domain.memory import Memory, MemoryType
from chalicelib.domain.scope import Scope


class DocsSource(Protocol):
    """Active memories in a fixed order, for work that no caller waits for."""

    def scopes(self, org_id: str, kind: Scope, *, after: str = "", limit: int = 100) -> list[str]:
        """Keys of the organization's scopes of that kind that hold an active row, in order, after the key `after`."""

    def types(self, scope_key: str) -> list[MemoryType]:
        """The types of the scope's active rows, in the order of `MemoryType`."""

    def rows(self, scope_key: str, kind: MemoryType, *, after: str = "", limit: int = 200) -> list[Memory]:
        """Active rows of one type, expired ones too, in the order of their ids, after the id `after`, without vectors,
        history and verdict."""

    def count(self, org_id: str, selection: DocsSelection) -> int:
        """How many active rows those scopes hold."""


class DocsTarget(Protocol):
    """Where files go. It neither reads nor removes what it was not told of."""

    def destination(self, org_id: str) -> str:
        """What tells the place of an organization's files from any other; shown to admins, and no secret."""

    def exists(self, org_id: str) -> bool:
        """Whether the place is there. Where it is not, what was exported before is gone."""

    def create(self, org_id: str) -> None:
        """Make the place; nothing where it is there. Conflict where something else stands in its way."""

    def sync(self, org_id: str, files: Sequence[DocsFile], deletions: Sequence[str]) -> Mapping[str, str]:
        """Put each file at its path, whatever was there, and remove the others; a repeat changes nothing. The paths that
        were refused, with the reason. StoreUnavailable of `docs` where the target does not answer, or refuses us."""


class DocsLedger(Protocol):
    """What was exported to a destination: whose it is, its files by scope, and how far the latest run is."""

    def claim(self, destination: str, org_id: str) -> bool:
        """Take the destination for the organization, unless another has it; whether the organization has it now."""

    def manifest(self, destination: str, scope_key: str) -> ScopeManifest:
        """The files of a scope; none where it was never exported there."""

    def keep_manifest(self, destination: str, manifest: ScopeManifest) -> None:
        """Put the manifest in place of the one before; one without files goes."""

    def manifests(
        self, destination: str, org_id: str, kind: Scope, *, after: str = "", limit: int = 100
    ) -> list[ScopeManifest]:
        """Manifests of the organization's scopes of that kind in the order of their keys, after the key `after`."""

    def checkpoint(self, destination: str, org_id: str) -> DocsCheckpoint | None:
        """What was kept of the organization's latest run."""

    def keep(self, destination: str, checkpoint: DocsCheckpoint) -> bool:
        """Put the checkpoint in place of the one of the version before it; whether that was there. The first has 1."""
