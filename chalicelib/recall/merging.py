"""One list of hits from several: of a question and its parts by their ranks, of what is linked by the calibrated scores."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from chalicelib.domain.query import Hit

PARTS_SHARE = 0.5  # of the weight of the whole, that all parts of a question have together; docs/retrieval.md
RANK_OFFSET = 5  # reciprocal rank fusion's constant: the smaller, the more the first few count


def with_parts(whole: Sequence[Hit], parts: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """The hits of a question with those of its parts, by reciprocal ranks: a part names less than the whole, so that what it
    finds scores higher and fits worse. A memory in several has its best score; ties go by the first list that has it."""
    worth, best = defaultdict[str, float](float), dict[str, Hit]()
    for hits, weight in ((whole, 1.0), *((part, PARTS_SHARE / len(parts)) for part in parts)):
        for rank, hit in enumerate(hits):
            worth[hit.memory.id] += weight / (RANK_OFFSET + rank)
            known = best.setdefault(hit.memory.id, hit)
            if hit.score > known.score:
                best[hit.memory.id] = hit
    return tuple(best[id_] for id_ in sorted(best, key=lambda id_: -worth[id_]))


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
