"""The newer before the older, of hits of one scope that are linked as contradicting or superseding: both stay, and who reads
from the top reads first what holds now. Links that reach into another scope, or from or to a policy, order nothing: anyone
may set them."""

from collections.abc import Sequence

from chalicelib.domain.memory import Link, LinkKind, Memory
from chalicelib.domain.query import Hit

FARTHEST = 15  # places that something newer moves up; docs/retrieval.md
_KINDS = frozenset({LinkKind.CONTRADICTS, LinkKind.SUPERSEDES})


def newer_first(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits with what is newer right before the first hit that it is linked to and that is older. What is older moves up
    for nothing, nor does what stands far below, and hits without such links keep their order."""
    newer, places = _newer(hits), {hit.memory.id: place for place, hit in enumerate(hits)}
    ordered: dict[str, Hit] = {}
    begun = set[str]()  # what supersedes an event after it may close a circle

    def stand(hit: Hit) -> None:
        if hit.memory.id in begun:
            return
        begun.add(hit.memory.id)
        for one in newer[hit.memory.id]:
            if places[one.memory.id] - places[hit.memory.id] <= FARTHEST:
                stand(one)
        ordered[hit.memory.id] = hit

    for hit in hits:
        stand(hit)
    return tuple(ordered.values())


def _newer(hits: Sequence[Hit]) -> dict[str, list[Hit]]:
    """By the id of each hit those that are linked to it and newer, the newest first. What several share is not linked: two
    that a third one corrects need not be about the same."""
    known = {hit.memory.id: hit for hit in hits}
    pairs = {
        frozenset({hit.memory.id, link.target})
        for hit in hits
        for link in hit.memory.links
        if link.target != hit.memory.id and _orders(link, hit.memory, known)
    }
    found: dict[str, list[Hit]] = {id_: [] for id_ in known}
    for pair in pairs:
        both = [known[id_].memory for id_ in pair]
        older, newest = sorted(both, key=lambda memory: _newness(memory, both))
        found[older.id].append(known[newest.id])
    for id_, some in found.items():
        some.sort(key=lambda one: (one.memory.event_time, one.memory.id), reverse=True)
        found[id_] = some
    return found


def _newness(memory: Memory, pair: Sequence[Memory]) -> tuple[int, object, str]:
    """What holds before what was superseded by the other, then the later event, then the later id."""
    replaced = any(link.kind is LinkKind.SUPERSEDES and link.target == memory.id for one in pair for link in one.links)
    return (0 if replaced else 1, memory.event_time, memory.id)


def _orders(link: Link, memory: Memory, known: dict[str, Hit]) -> bool:
    if link.kind not in _KINDS or link.target not in known:
        return False
    other = known[link.target].memory
    return other.scope_ref == memory.scope_ref and other.overridable == memory.overridable
