"""The docs export: what is asked for, what has become of it, and where the next batch begins."""

import hashlib
from enum import StrEnum
from functools import cached_property

from pydantic import Field, ValidationInfo, field_validator

from chalicelib.domain.keys import MAX_ID_BYTES, checked_id, key
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.text.tokens import estimate
from chalicelib.domain.wire import Flag, UtcTime, Wire

SHOWN_FAILURES = 100
FOLDERS = {
    Scope.ORGANIZATION: "organization",
    Scope.SPACE: "spaces",
    Scope.UNIVERSE: "universes",
    Scope.USER: "users",
}
"""The top of the tree (spec/product.md "Leaving and proving")."""


class DocsSelection(Wire):
    """Which scopes of an organization are exported: all but those of users, or those of one kind, or one alone."""

    scope: Scope | None = Field(default=None, description="of this kind alone; `user` asks for those of users")
    scope_id: str | None = Field(
        default=None,
        description=f"this one alone, of the kind in `scope`; at most {MAX_ID_BYTES} bytes of UTF-8",
        json_schema_extra={"minLength": 1, "maxLength": MAX_ID_BYTES},
    )
    users: Flag = Field(default=False, description="true exports the scopes of users beside the others")

    @field_validator("scope_id")
    @classmethod
    def _names_one_of_a_kind(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return None
        if info.data.get("scope") is None:
            raise ValueError("needs scope beside it")
        return checked_id(value, "scopeId")

    @field_validator("users")
    @classmethod
    def _adds_something(cls, value: bool, info: ValidationInfo) -> bool:  # noqa: FBT001 - pydantic calls it so
        if value and info.data.get("scope") not in {None, Scope.USER}:
            raise ValueError("says nothing beside another scope")
        return value

    @property
    def kinds(self) -> tuple[Scope, ...]:
        """The kinds of scopes that are exported, broad to narrow, which is the order of their keys too."""
        if self.scope:
            return (self.scope,)
        return tuple(kind for kind in Scope if kind is not Scope.USER or self.users)

    def only(self, org_id: str) -> str | None:
        """The key of the one scope that is exported, where it is one."""
        if self.scope is None or self.scope_id is None:
            return None
        return ScopeRef(org_id, self.scope, self.scope_id).key


class DocsExportRequest(DocsSelection):
    """What an admin asks for. The target comes from the settings."""

    restart: Flag = Field(
        default=False, description="true begins anew, whatever run is under way, and sends unchanged files too"
    )

    @property
    def selection(self) -> DocsSelection:
        """The scopes alone."""
        return DocsSelection(scope=self.scope, scope_id=self.scope_id, users=self.users)


class DocsFile(Wire):
    """A file as it is exported. `path` has `/` between its parts."""

    path: str
    content: str
    memories: int = 0

    @cached_property
    def data(self) -> bytes:
        """Its bytes."""
        return self.content.encode()

    @cached_property
    def sha256(self) -> str:
        """The hash of its bytes, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def listed(self) -> "ListedFile":
        """The file in a manifest."""
        return ListedFile(path=self.path, sha256=self.sha256, memories=self.memories, tokens=estimate(self.content))


class ListedFile(Wire):
    """A file as a manifest lists it; `sha256` is empty while nobody knows whether it arrived."""

    path: str
    sha256: str = ""
    memories: int = 0
    tokens: int = 0


class ScopeManifest(Wire):
    """The files of one scope that stand at a target: what a later export compares with, and removes."""

    scope_key: str
    files: tuple[ListedFile, ...] = ()

    @property
    def by_path(self) -> dict[str, ListedFile]:
        """The files by their paths."""
        return {file.path: file for file in self.files}


class DocsExportState(StrEnum):
    """`idle`: it never ran here. `running`: begun and not at its end, whether or not somebody works on it now."""

    IDLE = "idle"
    RUNNING = "running"
    FINISHED = "finished"


class RefusedFile(Wire):
    """A file that the target would not take, or not remove."""

    path: str
    reason: str


class DocsExportProgress(Wire):
    """The latest run for one organization. `files`, `memories` and `tokens` count what it has rendered so far, whether or
    not it had to be sent; `total` is how many memories there were when it began."""

    org_id: str
    destination: str = Field(default="", description="the docs service and project, or the folder")
    selection: DocsSelection = Field(default_factory=DocsSelection)
    state: DocsExportState = DocsExportState.IDLE
    total: int = 0
    scopes: int = 0
    files: int = 0
    memories: int = 0
    tokens: int = 0
    sent: int = Field(default=0, description="files that were new or had changed")
    removed: int = Field(default=0, description="files of before that are no longer there")
    failed: int = Field(default=0, description="files that the target refused; the next run tries them again")
    failures: tuple[RefusedFile, ...] = Field(default=(), description=f"the first {SHOWN_FAILURES} of them")
    problem: str | None = Field(default=None, description="what has stopped it, where something has; it is tried again")
    started_at: UtcTime | None = None
    updated_at: UtcTime | None = None


class TypePages(Wire):
    """How many pages were made of one type, and of how many memories."""

    pages: int = 0
    memories: int = 0


class DocsPosition(Wire):
    """Where a run is: the scope under way, its type, the last id that is in a page, and the pages made of the scope. With
    `done` the scope is at its end."""

    scope_key: str = ""
    type: MemoryType | None = None
    after: str = ""
    made: dict[MemoryType, TypePages] = Field(default_factory=dict)
    done: bool = True


class DocsCheckpoint(Wire):
    """What is kept of a run. `everything` sends unchanged files too."""

    progress: DocsExportProgress
    position: DocsPosition = Field(default_factory=DocsPosition)
    everything: bool = False
    version: int = 0

    def names(self, scope: ScopeRef) -> bool:
        """Whether it says something of that scope: what was asked for, how far it is, or a file that was refused; where
        files of any scope of that kind were refused it is taken to."""
        asked = self.progress.selection.only(self.progress.org_id)
        refused = any(failure.path.startswith(f"{FOLDERS[scope.scope]}/") for failure in self.progress.failures)
        return scope.key in {asked, self.position.scope_key} or refused


class ScopeReport(Wire):
    """What stands at the target of one scope."""

    scope: Scope
    scope_id: str
    memories: int
    tokens: int
    files: tuple[ListedFile, ...]

    @classmethod
    def of(cls, manifest: ScopeManifest) -> "ScopeReport":
        """The report of a manifest."""
        ref, files = ScopeRef.from_key(manifest.scope_key), manifest.files
        return cls(
            scope=ref.scope,
            scope_id=ref.scope_id,
            memories=sum(file.memories for file in files),
            tokens=sum(file.tokens for file in files),
            files=files,
        )


def kind_range(org_id: str, kind: Scope, after: str = "") -> tuple[str, str]:
    """Two texts between which lie the keys of an organization's scopes of that kind, those after the key `after` alone."""
    prefix = key(org_id, kind.value)
    return max(f"{prefix}/", after), f"{prefix}0"  # the character after the slash
