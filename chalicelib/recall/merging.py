"""One list of hits from several, by their calibrated scores."""

from collections.abc import Iterable, Sequence

from chalicelib.domain.query import Hit


def merged(hits: Sequence[Hit], further: Iterable[Hit]) -> tuple[Hit, ...]:
    """`hits` in their order, each of the others before the first that scores less. A memory in both has its better score."""
    together = list(hits)
    for hit in sorted(further, key=lambda one: (-one.score, one.memory.id)):
        known = next((i for i, one in enumerate(together) if one.memory.id == hit.memory.id), None)
        if known is not None and together[known].score >= hit.score:
            continue
        if known is not None:
            del together[known]
        place = next((i for i, one in enumerate(together) if one.score < hit.score), len(together))
        together.insert(place, hit)
    return tuple(together)
