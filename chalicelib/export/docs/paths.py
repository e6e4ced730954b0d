"""Where the files of a scope stand in the tree: names that are the same every time, and safe on every disk."""

import hashlib
import re
import unicodedata

from chalicelib.domain.docs import FOLDERS
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.scope import Scope, ScopeRef

INDEX = "index.md"
_HASH_CHARACTERS = 16  # 64 bits
_LONGEST_SLUG = 40
_PLAIN = re.compile(rf"[a-z0-9](?:[a-z0-9._-]{{0,{_LONGEST_SLUG - 2}}}[a-z0-9_-])?")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")  # device names on Windows, with any extension
_DROPPED = re.compile(r"[^a-z0-9]+")


def segment(id_: str) -> str:
    """An id as a part of a path. A plain lower-case one stays as it is; of any other its letters stay, with a hash of it
    behind a `~`, which no plain one holds: two ids never share a name, nor on a disk that does not tell capitals."""
    if _PLAIN.fullmatch(id_) and not _RESERVED.fullmatch(id_):
        return id_
    ascii_ = unicodedata.normalize("NFKD", id_).encode("ascii", "ignore").decode().lower()
    slug = _DROPPED.sub("-", ascii_).strip("-")[:_LONGEST_SLUG].rstrip("-")
    return f"{slug}~{hashlib.sha256(id_.encode()).hexdigest()[:_HASH_CHARACTERS]}"


def folder(scope: ScopeRef) -> str:
    """The folder of a scope: `organization`, `spaces/{name}`, `universes/{name}` or `users/{name}`."""
    if scope.scope is Scope.ORGANIZATION:
        return FOLDERS[scope.scope]
    return f"{FOLDERS[scope.scope]}/{segment(scope.scope_id)}"


def page_path(scope: ScopeRef, kind: MemoryType, number: int) -> str:
    """The file of a page: `facts.md`, then `facts-2.md`."""
    return f"{folder(scope)}/{page_name(kind, number)}"


def page_name(kind: MemoryType, number: int) -> str:
    """A page's name in its folder."""
    return f"{kind}s.md" if number == 1 else f"{kind}s-{number}.md"


def index_path(scope: ScopeRef) -> str:
    """The file that lists a scope's pages."""
    return f"{folder(scope)}/{INDEX}"
