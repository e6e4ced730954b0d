"""The way through an organization's memories: scope by scope, type by type, page by page, from any point of it on."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from chalicelib.domain.docs import DocsFile, DocsPosition, DocsSelection, TypePages
from chalicelib.domain.memory import Memory, MemoryType
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.succession import has_replaced, yields_to
from chalicelib.export.docs.paths import page_path
from chalicelib.export.docs.rendering import entry, index, page, page_head
from chalicelib.ports import Clock, DocsLedger, DocsSource, MemoryStore

PAGE_BYTES = 64 * 1024  # a page has more only where one memory alone does
READ_ROWS = 500
READ_SCOPES = 100


@dataclass(frozen=True)
class Piece:
    """The next thing to export, and where it leads: a page, or the end of a scope, which has a list of its pages and may
    have files of before that are no longer there."""

    position: DocsPosition
    file: DocsFile | None = None
    deletions: tuple[str, ...] = ()


@dataclass
class _Page:
    """A page as it grows."""

    entries: list[str] = field(default_factory=list)
    size: int = 0
    last: str = ""

    def fits(self, text: str) -> bool:
        """Whether the page has room for another entry."""
        return not self.entries or self.size + len(text.encode()) + 1 <= PAGE_BYTES


class Walk:
    """Reads as little at once as a page takes."""

    def __init__(self, *, source: DocsSource, store: MemoryStore, ledger: DocsLedger, clock: Clock) -> None:
        self._source = source
        self._store = store
        self._ledger = ledger
        self._clock = clock

    def pieces(
        self, destination: str, org_id: str, selection: DocsSelection, position: DocsPosition
    ) -> Iterator[Piece]:
        """What comes after `position`, to the end."""
        if position.scope_key and not position.done:
            yield from self._scope(destination, position)
        for scope_key in self._scopes(destination, org_id, selection, position.scope_key):
            yield from self._scope(destination, DocsPosition(scope_key=scope_key, done=False))

    def _scopes(self, destination: str, org_id: str, selection: DocsSelection, after: str) -> Iterator[str]:
        if only := selection.only(org_id):
            yield from [only] if after != only else []
            return
        for kind in selection.kinds:
            yield from self._of_kind(destination, ScopeRef(org_id, kind, ""), after)

    def _of_kind(self, destination: str, kind: ScopeRef, after: str) -> Iterator[str]:
        """The scopes that hold something, and those of which something stands at the target."""
        while True:
            rows = self._source.scopes(kind.org_id, kind.scope, after=after, limit=READ_SCOPES)
            listed = self._ledger.manifests(destination, kind.org_id, kind.scope, after=after, limit=READ_SCOPES)
            pages = (rows, [manifest.scope_key for manifest in listed])
            full = [found[-1] for found in pages if len(found) == READ_SCOPES]
            found = sorted({key for keys in pages for key in keys if not full or key <= min(full)})
            yield from found
            if not full:
                return
            after = found[-1]

    def _scope(self, destination: str, position: DocsPosition) -> Iterator[Piece]:
        for kind in self._source.types(position.scope_key):
            if position.type and list(MemoryType).index(kind) < list(MemoryType).index(position.type):
                continue
            after = position.after if kind is position.type else ""
            for piece in self._pages(position, kind, after):
                yield piece
                position = piece.position
        yield self._end(destination, position)

    def _pages(self, position: DocsPosition, kind: MemoryType, after: str) -> Iterator[Piece]:
        growing = _Page()
        for memory in self._rows(position.scope_key, kind, after):
            text = entry(memory)
            if not growing.fits(text):
                piece = _piece(position, kind, growing)
                yield piece
                position, growing = piece.position, _Page()
            growing.entries.append(text)
            head = len(page_head(ScopeRef.from_key(position.scope_key), kind, 1)) if not growing.size else 0
            growing.size += len(text.encode()) + 1 + head
            growing.last = memory.id
        if growing.entries:
            yield _piece(position, kind, growing)

    def _rows(self, scope_key: str, kind: MemoryType, after: str) -> Iterator[Memory]:
        while True:
            found = self._source.rows(scope_key, kind, after=after, limit=READ_ROWS)
            yield from self._standing(scope_key, found)
            if len(found) < READ_ROWS:
                return
            after = found[-1].id

    def _standing(self, scope_key: str, memories: list[Memory]) -> list[Memory]:
        """Those whose time has not run out, and in whose place no other stands, be they marked and not archived yet."""
        now = self._clock()
        memories = [memory for memory in memories if not memory.is_expired(now)]
        successors = [id_ for memory in memories for id_ in yields_to(memory)]
        if not successors:
            return memories
        ref = ScopeRef.from_key(scope_key)
        there = [row.memory for row in self._store.fetch(Chain(ref.org_id, (ref,)), successors)]
        return [memory for memory in memories if not any(has_replaced(new, memory) for new in there)]

    def _end(self, destination: str, position: DocsPosition) -> Piece:
        ref = ScopeRef.from_key(position.scope_key)
        listing = index(ref, position.made) if position.made else None
        made = {page_path(ref, kind, n + 1) for kind, of in position.made.items() for n in range(of.pages)}
        if listing:
            made.add(listing.path)
        before = self._ledger.manifest(destination, position.scope_key).by_path
        deletions = tuple(sorted(before.keys() - made))
        return Piece(position.model_copy(update={"done": True}), listing, deletions)


def _piece(position: DocsPosition, kind: MemoryType, growing: _Page) -> Piece:
    before = position.made.get(kind, TypePages())
    file = page(ScopeRef.from_key(position.scope_key), kind, before.pages + 1, growing.entries)
    after = TypePages(pages=before.pages + 1, memories=before.memories + len(growing.entries))
    moved = {"type": kind, "after": growing.last, "made": {**position.made, kind: after}}
    return Piece(position.model_copy(update=moved), file)
