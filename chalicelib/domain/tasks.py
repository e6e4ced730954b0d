"""Work that no request waits for, as messages on the queue: one model a kind, told apart by `kind`.

A task names its scope, from which its organization follows, and ids in it, never contents: what it is about is read again
when it is worked on, through a chain of that one scope.
"""

import json
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StringConstraints, ValidationInfo, field_validator

from chalicelib.domain.keys import MAX_ID_BYTES, checked_id
from chalicelib.domain.scope import Chain, Scope, ScopeRef
from chalicelib.domain.session import is_session_key
from chalicelib.domain.validation import validated
from chalicelib.domain.wire import Wire
from chalicelib.errors import InvalidInput, TooLarge

MAX_TEXT_BYTES = 262_144  # what SQS carries, a message or a batch of them
MAX_IDS = 100  # as many as a batch of memories has
UNREADABLE = "unreadable"
MAX_KEY = 1000  # three ids, each byte of them escaped
MemoryId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_BYTES)]

Version = Annotated[int, Field(ge=1, le=2**53)]


class ScopedTask(Wire):
    """What every kind has: the scope that it may reach, and no other."""

    scope_key: str

    @field_validator("scope_key")
    @classmethod
    def _names_a_scope(cls, value: str) -> str:
        try:
            ref = ScopeRef.from_key(value)
            for part in (ref.org_id, ref.scope_id):
                checked_id(part, "scopeKey")
        except (ValueError, InvalidInput):
            raise ValueError("is no key of a scope") from None
        if ref.key != value:
            raise ValueError("is no key of a scope")
        return value

    @property
    def chain(self) -> Chain:
        """The scope alone."""
        ref = ScopeRef.from_key(self.scope_key)
        return Chain(ref.org_id, (ref,))


class IndexRows(ScopedTask):
    """Rows that their request stored and could not embed or index."""

    kind: Literal["index_rows"] = "index_rows"
    ids: tuple[MemoryId, ...] = Field(min_length=1, max_length=MAX_IDS)


class RebuildScope(ScopedTask):
    """A scope whose hot index is to be built anew from the truth."""

    kind: Literal["rebuild_scope"] = "rebuild_scope"


class WriteQuestions(ScopedTask):
    """A memory whose prospective questions are to be written, as it was at that revision."""

    kind: Literal["write_questions"] = "write_questions"
    id: MemoryId
    revision: Version


class LearnPreferences(ScopedTask):
    """What was just remembered of a conversation, which is to be looked through for what its author wants of answers."""

    kind: Literal["learn_preferences"] = "learn_preferences"
    ids: tuple[MemoryId, ...] = Field(min_length=1, max_length=MAX_IDS)


class WriteScopeQuestions(ScopedTask):
    """A scope whose memories are to have questions of their present text and the present model, from the id `after` on."""

    kind: Literal["write_scope_questions"] = "write_scope_questions"
    after: str = Field(default="", max_length=MAX_ID_BYTES)


class OrganizationTask(ScopedTask):
    """What is about an organization, named by its broadest scope."""

    @field_validator("scope_key")
    @classmethod
    def _is_the_broadest(cls, value: str) -> str:
        ref = ScopeRef.from_key(value)
        if (ref.scope, ref.scope_id) != (Scope.ORGANIZATION, ref.org_id):
            raise ValueError("is no key of an organization")
        return value


class BackfillOrganization(OrganizationTask):
    """An organization of which the backfill of embeddings is to go on."""

    kind: Literal["backfill"] = "backfill"


class ExportDocs(OrganizationTask):
    """An organization of which the docs export is to go on."""

    kind: Literal["export_docs"] = "export_docs"


class SettleSession(ScopedTask):
    """Messages that were appended to a session, named by its key, that the worker is to see to."""

    kind: Literal["settle_session"] = "settle_session"
    session_key: str
    ids: tuple[MemoryId, ...] = Field(min_length=1, max_length=MAX_IDS)

    @field_validator("session_key")
    @classmethod
    def _is_of_the_organization(cls, value: str, info: ValidationInfo) -> str:
        scope_key = info.data.get("scope_key")
        if scope_key and not (is_session_key(value) and value.split("/", maxsplit=1)[0] == scope_key.split("/")[0]):
            raise ValueError("is no key of a session of that organization")
        return value


class RecompileGenome(ScopedTask):
    """What both kinds of genome have: whose it is, named by their scope, and from which version on it is due."""

    version: Version

    @field_validator("scope_key")
    @classmethod
    def _is_of_a_user(cls, value: str) -> str:
        if ScopeRef.from_key(value).scope is not Scope.USER:
            raise ValueError("is no key of a user's scope")
        return value


class RecompileUserGenome(RecompileGenome):
    """A user whose genome a language model is to go over."""

    kind: Literal["recompile_user_genome"] = "recompile_user_genome"


class RecompileSessionGenome(RecompileGenome):
    """A session, owned by that user and kept under `sessionKey`, whose genome a language model is to go over."""

    kind: Literal["recompile_session_genome"] = "recompile_session_genome"
    session_key: str = Field(min_length=1, max_length=MAX_KEY)

    @field_validator("session_key")
    @classmethod
    def _is_of_the_organization(cls, value: str, info: ValidationInfo) -> str:
        scope_key = info.data.get("scope_key")
        if scope_key and not (is_session_key(value) and value.split("/", maxsplit=1)[0] == scope_key.split("/")[0]):
            raise ValueError("is no key of a session of that organization")
        return value


Task = (
    IndexRows
    | RebuildScope
    | WriteQuestions
    | WriteScopeQuestions
    | LearnPreferences
    | BackfillOrganization
    | ExportDocs
    | SettleSession
    | RecompileUserGenome
    | RecompileSessionGenome
)
TASK_MODELS: dict[str, type[Task]] = {model.model_fields["kind"].default: model for model in get_args(Task)}


def to_text(task: Task) -> str:
    """The message of a task: JSON in ASCII, which every queue carries unchanged. TooLarge over 256 KB."""
    text = json.dumps(task.model_dump(mode="json", by_alias=True), separators=(",", ":"))
    if len(text) > MAX_TEXT_BYTES:
        raise TooLarge(f"the task is over {MAX_TEXT_BYTES} bytes", limit=MAX_TEXT_BYTES)
    return text


def from_text(text: str) -> Task:
    """The task of a message. InvalidInput names what is wrong with one that is no task."""
    value = _json(text)
    if not isinstance(value, dict):
        raise InvalidInput("task", "must be a JSON object")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in TASK_MODELS:
        raise InvalidInput("kind", f"must be one of {', '.join(TASK_MODELS)}")
    return validated(TASK_MODELS[kind], value)


def kind_of(text: str) -> str:
    """The kind of a message, or `unreadable`."""
    try:
        return from_text(text).kind
    except InvalidInput:
        return UNREADABLE


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("task", "is not valid JSON") from None
