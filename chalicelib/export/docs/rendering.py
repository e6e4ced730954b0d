"""Memories as Markdown. Pure, and the same memories give the same bytes."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from chalicelib.domain.docs import DocsFile, TypePages
from chalicelib.domain.memory import LinkKind, Memory, MemoryType
from chalicelib.domain.scope import ScopeRef
from chalicelib.export.docs.markdown import code, inline, literal, title
from chalicelib.export.docs.paths import index_path, page_name, page_path

_TIME = "%Y-%m-%d %H:%M:%S UTC"
_LINKS = {
    LinkKind.SUPERSEDES: "Supersedes",
    LinkKind.CONTRADICTS: "Contradicts",
    LinkKind.RELATES: "Relates to",
    LinkKind.EVIDENCE: "Evidence",
}


def entry(memory: Memory) -> str:
    """A memory on its page: a heading, what it is, and its content as it is."""
    facts = "\n".join(f"- {name}: {value}" for name, value in _facts(memory))
    return f"## {title(memory.summary or memory.content)}\n\n{facts}\n\n{literal(memory.content)}\n"


def page(scope: ScopeRef, kind: MemoryType, number: int, entries: Iterable[str]) -> DocsFile:
    """A page of entries of one type."""
    entries = tuple(entries)
    head = page_head(scope, kind, number)
    return DocsFile(path=page_path(scope, kind, number), content="\n".join((head, *entries)), memories=len(entries))


def page_head(scope: ScopeRef, kind: MemoryType, number: int) -> str:
    """How a page begins."""
    part = "" if number == 1 else f", page {number}"
    return f"# {kind.title()}s of {_named(scope)}{part}\n"


def index(scope: ScopeRef, made: Mapping[MemoryType, TypePages]) -> DocsFile:
    """The page that lists the others of a scope."""
    lines = [f"# Memories of {_named(scope)}\n", "| type | memories | pages |", "|---|---|---|"]
    for kind in MemoryType:
        if (of := made.get(kind)) and of.pages:
            pages = ", ".join(f"[{n}]({page_name(kind, n)})" for n in range(1, of.pages + 1))
            lines.append(f"| {kind} | {of.memories} | {pages} |")
    return DocsFile(path=index_path(scope), content="\n".join(lines) + "\n")


def _named(scope: ScopeRef) -> str:
    return f"{scope.scope} {code(scope.scope_id)}"


def _facts(memory: Memory) -> Iterator[tuple[str, str]]:
    if memory.summary:
        yield "Summary", inline(memory.summary)
    yield "Type", memory.type
    for name, values in (("Tags", memory.tags), ("Key entities", memory.key_entities)):
        if values:
            yield name, ", ".join(map(code, values))
    yield "Event time", _said(memory.event_time)
    yield "Importance", f"{memory.importance:.2f}"
    yield "Overridable", "yes" if memory.overridable else "no, this is policy"
    yield "Author", code(memory.user_id)
    if memory.origin and memory.origin.speaker:
        yield "Speaker", code(memory.origin.speaker)
    if memory.expires_at:
        yield "Expires", _said(memory.expires_at)
    for kind, name in _LINKS.items():
        if targets := [code(link.target) for link in memory.links if link.kind is kind]:
            yield name, ", ".join(targets)
    if memory.outcome:
        yield "Outcome", inline(memory.outcome)
    for attachment in memory.attachments:
        described = f" {inline(attachment.description)}" if attachment.description else ""
        yield "Attachment", f"{code(attachment.type)} {code(attachment.url)}{described}"
    yield "Id", f"{code(memory.id)}, revision {memory.revision}"


def _said(time: datetime) -> str:
    return time.strftime(_TIME)
