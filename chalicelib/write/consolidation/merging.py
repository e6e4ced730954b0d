"""Whether a new memory is one that is there already, in other words; and the old one with what the new adds."""

from datetime import datetime

from chalicelib.domain.claims.extraction import Statement
from chalicelib.domain.claims.of_memory import has_given_claims
from chalicelib.domain.memory import TIMED_TYPES, IndexState, Memory
from chalicelib.write.consolidation.reading import Reading
from chalicelib.write.consolidation.wording import Relation, relation, surplus
from chalicelib.write.versions import has_room, with_present


def likeness(new: Reading, old: Reading) -> Relation | None:
    """What the new memory is to the old: the same, the same and more, or less; None where they are two."""
    if not _may_be_one(new.memory, old.memory):
        return None
    return relation(new.words, old.words) or _by_claims(new, old)


def _may_be_one(new: Memory, old: Memory) -> bool:
    """Whether nothing besides their words makes them two."""
    speakers = [memory.origin.speaker if memory.origin else None for memory in (new, old)]
    return (
        new.type is old.type
        and new.scope_ref == old.scope_ref
        and new.overridable == old.overridable
        and new.expires_at == old.expires_at
        and speakers[0] == speakers[1]
        and set(new.attachments) <= set(old.attachments)
        and new.outcome in {None, old.outcome}
        and (new.type not in TIMED_TYPES or new.event_time == old.event_time)
        and has_room(old)
    )


def _by_claims(new: Reading, old: Reading) -> Relation | None:
    """Both make the same claims, all for sure, and one says nothing besides that the other does not."""
    mine = new.statements
    if not mine:  # then the old one's need not be read
        return None
    others = old.statements
    if not all(one.sure for one in (*mine, *others)) or _keys(mine) != _keys(others):
        return None
    return surplus(new.words_beside, old.words_beside)


def _keys(statements: list[Statement]) -> set[object]:
    return {
        (one.subject, one.attribute.name, one.attribute.modifiers, one.value.parts, one.negated) for one in statements
    }


def merged(old: Memory, new: Memory, by: str, now: datetime) -> Memory:
    """The old memory saying what the new one says, as an edit that keeps what it said before. When it was true or
    said stays."""
    tags = tuple(dict.fromkeys((*old.tags, *new.tags)))
    entities = tuple(dict.fromkeys((*old.key_entities, *new.key_entities)))
    claims_of = old if has_given_claims(old) and not has_given_claims(new) else new
    return old.model_copy(
        update={
            "content": new.content,
            "summary": new.summary or old.summary,
            "tags": tags,
            "key_entities": entities,
            "importance": max(old.importance, new.importance),
            "claims": claims_of.claims,
            "claims_found": claims_of.claims_found,
            "links": tuple(dict.fromkeys((*old.links, *new.links))),
            "history": with_present(old),
            "edited_at": now,
            "edited_by": by,
            "updated_at": now,
            "revision": old.revision + 1,
            "index_state": IndexState.PENDING,
        }
    )
