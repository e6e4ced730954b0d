"""The newer before the older, of hits of one scope that are linked as contradicting or superseding: both stay, and who reads
from the top reads first what holds now. Links that reach into another scope, or from or to a policy, order nothing: anyone
may set them."""

from collections.abc import Sequence

from chalicelib.domain.memory import Link, LinkKind, Memory
from chalicelib.domain.query import Hit

_KINDS = frozenset({LinkKind.CONTRADICTS, LinkKind.SUPERSEDES})


def newer_first(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits with what is newer right before the first hit that it is linked to and that is older. What is older moves up
    for nothing, and hits without such links keep their order."""
    groups = _groups(hits)
    ordered: dict[str, Hit] = {}
    for hit in hits:
        group = groups.get(hit.memory.id, [hit])
        newest_first = sorted(group, key=lambda one: _newness(one.memory, group), reverse=True)
        for one in newest_first[: newest_first.index(hit) + 1]:
            ordered.setdefault(one.memory.id, one)
    return tuple(ordered.values())


def _newness(memory: Memory, group: Sequence[Hit]) -> tuple[int, object, str]:
    """What holds before what was superseded by another of the group, then the later event, then the later id."""
    replaced = any(
        link.kind is LinkKind.SUPERSEDES and link.target == memory.id for one in group for link in one.memory.links
    )
    return (0 if replaced else 1, memory.event_time, memory.id)


def _groups(hits: Sequence[Hit]) -> dict[str, list[Hit]]:
    """The hits of each group by the id of any of them."""
    known = {hit.memory.id: hit for hit in hits}
    groups = {id_: [id_] for id_ in known}
    for hit in hits:
        for link in hit.memory.links:
            if not _orders(link, hit.memory, known) or groups[link.target] is groups[hit.memory.id]:
                continue
            together = groups[hit.memory.id] + groups[link.target]
            groups |= dict.fromkeys(together, together)
    return {id_: [known[one] for one in sorted(ids)] for id_, ids in groups.items()}


def _orders(link: Link, memory: Memory, known: dict[str, Hit]) -> bool:
    if link.kind not in _KINDS or link.target not in known:
        return False
    other = known[link.target].memory
    return other.scope_ref == memory.scope_ref and other.overridable == memory.overridable
