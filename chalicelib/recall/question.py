"""A recall as it is asked: checked, cleaned, and with everything derived from it that the tiers need."""

import hashlib
import json
from dataclasses import dataclass

from chalicelib.domain.caller import Caller
from chalicelib.domain.keys import key
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.scope import Chain
from chalicelib.domain.text.cleaning import clean, is_blank
from chalicelib.domain.text.names import possible_names
from chalicelib.domain.text.secrets import redact
from chalicelib.domain.text.terms import query_words
from chalicelib.errors import InvalidInput


@dataclass(frozen=True)
class Question:
    """`text` is the redacted query. `words` are its words, each as the terms it may stand under."""

    caller: Caller
    query: RecallQuery
    chain: Chain
    text: str
    words: tuple[tuple[str, ...], ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms of all words, each once."""
        return tuple(dict.fromkeys(term for word in self.words for term in word))

    @property
    def names(self) -> tuple[str, ...]:
        """Its words that could be part of a name."""
        return possible_names(self.text)

    def answer_key(self, model: str) -> str:
        """Under what an answer to this is cached: everything that could change it, the organization first."""
        asked = self.query.model_dump(mode="json", exclude={"query"})
        return key(self.chain.org_id, _hash([self.text, self.chain.keys, model, asked]))

    def vector_key(self, model: str) -> str:
        """Under what the query's vector is cached, per organization."""
        return key(self.chain.org_id, _hash([self.text, model]))


def question(caller: Caller, query: RecallQuery) -> Question:
    """The question of `caller`. InvalidInput for a blank query, NotFound for a scope outside the caller's chain."""
    cleaned = _cleaned(query.query, "query")
    if is_blank(cleaned):
        raise InvalidInput("query", "must not be empty")
    text, _ = redact(cleaned)
    query = query.model_copy(update={"tags": tuple(_cleaned(tag, f"tags.{i}") for i, tag in enumerate(query.tags))})
    return Question(caller, query, caller.chain.narrow(query.wanted_scopes, query.scope_ids), text, query_words(text))


def _cleaned(text: str, field: str) -> str:
    try:
        return clean(text)
    except UnicodeEncodeError:
        raise InvalidInput(field, "is not valid Unicode") from None


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
