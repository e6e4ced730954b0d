"""Terms under which a memory is found by what it claims, whatever its words: one a subject and attribute.

They stand among the terms of its text and no query of a reader can hold one, since words have no `=`.
"""

import hashlib
from collections.abc import Iterable

from chalicelib.domain.claims.extraction import Statement
from chalicelib.domain.claims.of_memory import MOST_CLAIMS, statements_of
from chalicelib.domain.memory import Memory

PREFIX = "claim="
_DIGITS = 16  # of a hash in hexadecimal: two claims of a scope that share one are told apart when they are compared


def claim_terms(memory: Memory) -> dict[str, int]:
    """The terms of what the memory claims or takes back, each once."""
    return dict.fromkeys(sorted({_term(one) for one in statements_of(memory)[:MOST_CLAIMS]}), 1)


def _term(one: Statement) -> str:
    """Of attributes that have many values at once the value is part, and of favourites and preferences of what they are."""
    parts = [one.subject, one.attribute.name]
    if not one.is_single:
        parts += sorted(value for _, value in one.value.parts)
    elif one.attribute.name in {"favourite", "preference"}:
        parts += sorted(one.attribute.modifiers)
    return PREFIX + hashlib.sha256("\n".join(parts).encode()).hexdigest()[:_DIGITS]


def words_alone(terms: Iterable[str]) -> set[str]:
    """The terms that are of the text."""
    return {term for term in terms if not term.startswith(PREFIX)}
