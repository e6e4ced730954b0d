"""The hooks: what a plugin is shown at each, and what it may give back. A plugin is a class whose methods carry `@hook`.

Everything shown is a frozen copy of the plugin's own. None is always an answer: nothing changes. What a plugin gives is
checked by the core, cleaned where it is text, and ignored where it is more than the hook allows.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from pydantic import Field

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.conversation import Message
from chalicelib.domain.memory import Memory
from chalicelib.domain.query import Hit, RecallQuery
from chalicelib.domain.routing.route import Route
from chalicelib.domain.wire import Wire

MARK = "__vitto_hook__"  # the registry hands what carries it to pluggy, which a cold start then need not import
MAX_NOTE = 500
AnswerKind = Literal["recall", "remember", "memories"]
AdmissionAction = Literal["admit", "quarantine", "reject"]
ConsolidationAction = Literal["add", "update", "supersede", "none"]


def hook[F: Callable[..., Any]](method: F) -> F:
    """Mark a method of a plugin as its part in the hook of the same name."""
    setattr(method, MARK, True)
    return method


class Plugin(Protocol):
    """A plugin: `name` (lower case, digits and `_`), one sentence for the admin who switches it, and hooks.

    It may also have `order` (an int, 100 where it has none: lower runs first, equal ones by name); `default_on` (True where
    it has none): whether it runs for an organization that never switched it; and `answers`, the kinds of answers that it
    wants to see before and after a response (recall and remember where it has none)."""

    name: str
    description: str


class Identity(Wire):
    """On whose behalf a plugin runs, without the credential."""

    org_id: str
    user_id: str
    roles: tuple[Role, ...]
    spaces: tuple[str, ...] = ()
    universes: tuple[str, ...] = ()

    @classmethod
    def of(cls, caller: Caller) -> "Identity":
        """The identity of `caller`."""
        roles = tuple(sorted(caller.roles))
        return cls(
            org_id=caller.org_id,
            user_id=caller.user_id,
            roles=roles,
            spaces=caller.spaces,
            universes=caller.universes,
        )


class Shown(Wire):
    """What every hook shows."""

    caller: Identity


class Asked(Shown):
    """A recall before it runs. Secrets are out of the query's text. `route` is the one that it would take."""

    query: RecallQuery
    route: Route | None = None


class Answering(Shown):
    """An answer before it goes out: the `hits` of a recall, or `memories` that were read, with their history."""

    kind: AnswerKind
    query: RecallQuery | None = None
    hits: tuple[Hit, ...] = ()
    memories: tuple[Memory, ...] = ()


class ResponseChange(Wire):
    """Changes to an answer: the ids of all hits in another order, and notes on hits by their ids.

    `history` is for the plugin that comes with the product and wraps it: show the history of what was read."""

    order: tuple[str, ...] | None = None
    notes: dict[str, str] = Field(default_factory=dict)
    history: bool = False


class Answered(Shown):
    """What was answered: what a recall found, or what a remember stored."""

    kind: AnswerKind
    query: RecallQuery | None = None
    memories: tuple[Memory, ...] = ()


class AssemblingContext(Shown):
    """A context before it is assembled: the recent messages, the oldest first."""

    session_id: str
    messages: tuple[Message, ...] = ()


class ContextHint(Wire):
    """One line for the assistant that goes into this context and is stored nowhere."""

    text: str = Field(min_length=1, max_length=MAX_NOTE)


class Candidate(Shown):
    """A memory before it is stored. `verdict` is what admission found, None where it was not asked; `action` is what will
    happen unless a plugin forces something else."""

    memory: Memory
    verdict: Mapping[str, Any] | None = None
    action: AdmissionAction = "admit"


class AdmissionChange(Wire):
    """Force an action, with the reason that the receipt gives, or change the candidate, or both. Its ids, its scope, its
    author, its times of storing and `overridable` stay as they are."""

    action: AdmissionAction | None = None
    reason: str | None = Field(default=None, max_length=MAX_NOTE)
    memory: Memory | None = None


class Consolidating(Shown):
    """What consolidation is about to do with `incoming`: `action`, to the row `target` of `nearest`."""

    incoming: Memory
    nearest: tuple[Memory, ...] = ()
    action: ConsolidationAction
    target: str | None = None


class ConsolidationChange(Wire):
    """Keep both: `incoming` is added and the row there stays as it is."""

    action: Literal["add"]
    reason: str | None = Field(default=None, max_length=MAX_NOTE)


class Session(Shown):
    """A session that begins or ends. `messages` are those that it ends with."""

    session_id: str
    messages: tuple[Message, ...] = ()


class HookSpecs:
    """The hooks. Those before a response have 100 ms each, those after it 500 ms."""

    def session_start(self, session: Session) -> None:
        """A session begins."""

    def before_recall(self, asked: Asked) -> RecallQuery | Route | None:
        """May give a narrower query: fewer scopes, ids or types, more tags, a shorter time, a smaller limit, a higher least
        score; the text stays. Or a route, which holds where the query names none; its scopes narrow the query's."""

    def before_context_assembly(self, context: AssemblingContext) -> ContextHint | None:
        """May give a hint for the assistant."""

    def before_response(self, answer: Answering) -> ResponseChange | None:
        """May put hits in another order and annotate them."""

    def after_response(self, answered: Answered) -> None:
        """The answer is made. What is given back is ignored."""

    def on_memory_admission(self, candidate: Candidate) -> AdmissionChange | None:
        """May force what happens to a candidate, or change it."""

    def on_consolidation(self, consolidating: Consolidating) -> ConsolidationChange | None:
        """May keep two memories apart."""

    def session_end(self, session: Session) -> None:
        """A session has ended."""
