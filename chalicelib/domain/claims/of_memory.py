"""What a memory says: the claims that its caller gave, else what its text says plainly."""

from collections.abc import Sequence

from chalicelib.domain.claims.extraction import Statement, statements
from chalicelib.domain.claims.subjects import Attribute, attribute_of
from chalicelib.domain.claims.values import Kind, folded, value_of, words_of
from chalicelib.domain.memory import Claim, Memory

MOST_CLAIMS = 20  # as many as a caller may give
_ROLES_OF_SPEAKERS = frozenset({"user", "me", "human"})  # a role, which the author's id names better
_KINDS = (Kind.CONTACT, Kind.DATE, Kind.AMOUNT, Kind.TEXT)
_GIVEN = {"lives in": "residence", "works at": "employer", "works for": "employer", "works as": "role"}
_GIVEN |= {"is called": "name", "is named": "name", "married to": "spouse", "costs": "price", "born on": "birthday"}


def author_of(memory: Memory) -> str:
    """Who says "I" in it: the speaker where a name is known, else its author."""
    speaker = memory.origin.speaker if memory.origin else None
    return speaker if speaker and folded(speaker) not in _ROLES_OF_SPEAKERS else memory.user_id


def with_claims(memory: Memory) -> Memory:
    """The memory with the claims that its text states for sure, in place of those that another text of it stated. Claims
    that were given with it win, whatever the text."""
    if has_given_claims(memory):
        return memory
    plain = [one for one in statements(memory.content, author_of(memory)) if one.sure and not one.negated]
    found = tuple(
        Claim(subject=one.subject[:200], attribute=one.attribute_text[:200], value=one.value.text[:500])
        for one in plain[:MOST_CLAIMS]
    )
    return memory.model_copy(update={"claims": found, "claims_found": bool(found)})


def has_given_claims(memory: Memory) -> bool:
    """Whether its claims came with it, so that they stay when its text changes."""
    return bool(memory.claims) and not memory.claims_found


def statements_of(memory: Memory) -> list[Statement]:
    """What it says, for comparing. A stored claim counts while the text says its value: an edit may have come."""
    author = author_of(memory)
    found = statements(memory.content, author)
    if not has_given_claims(memory) or _are_found(memory.claims, found):
        return found
    words = frozenset(words_of(memory.content))
    kept = [c for c in memory.claims if memory.edited_at is None or words.issuperset(words_of(c.value))]
    return [made for claim in kept if (made := _given(claim, memory))] or found


def _are_found(claims: Sequence[Claim], found: Sequence[Statement]) -> bool:
    """Whether the text itself makes these claims: it says more, such as what it takes back."""
    made = {(one.subject, one.attribute_text, one.value.text) for one in found}
    return all((claim.subject, claim.attribute, claim.value) in made for claim in claims)


def _given(claim: Claim, memory: Memory) -> Statement | None:
    values = (value_of(claim.value, kind) for kind in _KINDS)
    value = next((value for value in values if value is not None and value.definite), None)
    if value is None:
        return None
    return Statement(folded(claim.subject), attribute_named(claim.attribute), value, begin=0, end=len(memory.content))


def attribute_named(name: str) -> Attribute:
    """The attribute that a claim names, the same for every way to name it."""
    plain = " ".join(folded(name).replace("_", " ").split())
    if known := _GIVEN.get(plain):
        return Attribute(known)
    return attribute_of(plain.split()) or Attribute(plain)


def claimed(memory: Memory) -> list[Statement]:
    """What its stored claims say, without a look at the text, save that an edit may have taken the value out of it."""
    words = frozenset(words_of(memory.content)) if memory.claims and memory.edited_at else None
    standing = [one for one in memory.claims if words is None or words.issuperset(words_of(one.value))]
    return [made for claim in standing if (made := _given(claim, memory))]
