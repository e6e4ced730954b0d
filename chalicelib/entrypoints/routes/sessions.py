"""`/engine/session/{session_id}`: messages of a conversation, its genome, and the context of its next turn."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from chalice.app import Blueprint
from pydantic import Field

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.model import ConversationGenome, Dropped, MessageRange
from chalicelib.domain.plugins import PluginReport
from chalicelib.domain.query import Missing, RecallAnswer
from chalicelib.domain.session import Session
from chalicelib.domain.session_input import AppendRequest, ContextRequest, MessageReceipt
from chalicelib.domain.wire import Wire
from chalicelib.entrypoints.answers import Reply
from chalicelib.entrypoints.contract import NOTHING, Answer, Gives, Listing, NoQuery, in_body, in_query, on_wire
from chalicelib.entrypoints.http import Call, route
from chalicelib.errors import Conflict, InvalidInput
from chalicelib.prompt.blocks import BlockName
from chalicelib.prompt.providers import anthropic, openai

if TYPE_CHECKING:
    from chalicelib.context.assembling import TurnContext

blueprint = Blueprint(__name__)
PAGE, MOST_A_PAGE = 50, 200
MOST_DIGITS = 10
_MESSAGES = "/engine/session/{session_id}/messages"


class MessagesQuery(Wire):
    """Which messages to list: a page of all, the oldest first, or just the `latest`."""

    cursor: str | None = Field(default=None, min_length=1)
    limit: int = Field(default=PAGE, ge=1, le=MOST_A_PAGE)
    latest: int | None = Field(
        default=None, ge=1, le=MOST_A_PAGE, description="so many of the latest, in place of a page"
    )


class Appended(Answer):
    """The session, and one receipt a message in their order; `plugins` is what they did where this began the session."""

    session: Session
    receipts: tuple[MessageReceipt, ...]
    plugins: tuple[PluginReport, ...] = ()


class MessagePage(Listing):
    """A page of messages, the oldest first."""

    messages: tuple[SessionMessage, ...]
    cursor: str | None


class GenomeAnswer(Answer):
    """A genome as the worker last kept it: its tokens, how many tokens of messages stand for each of them, what was dropped
    in the session's life, and how many messages are outside of it."""

    genome: ConversationGenome
    token_count: int
    compression_ratio: float
    dropped: Dropped
    outside: int


class Ended(Answer):
    """A session that has ended, and what plugins did."""

    session: Session
    plugins: tuple[PluginReport, ...] = ()


class Deleted(Answer):
    """A session that is gone for good."""

    id: str
    deleted: Literal[True] = True
    messages: int


class PromptBlock(Wire):
    """A part of the prompt with its tokens; `stable` where it is the same on every turn."""

    name: BlockName
    text: str
    tokens: int
    stable: bool


class CutPart(Wire):
    """What is not in the prompt as it was: a message or memory by its id, else a block by its name."""

    block: BlockName
    what: str
    how: Literal["left out", "shortened"]


class CompressedState(Wire):
    """The genome that the prompt stands on: its version as stored, how far it reaches, with what this turn compressed
    itself, and its tokens."""

    version: int
    message_range: MessageRange
    token_count: int


class ProviderMessages(Wire):
    """The same prompt in the message formats of two providers."""

    anthropic: dict[str, Any]
    openai: dict[str, Any]


class ContextAnswer(Answer):
    """A prompt within its budget. `recalled` are the ids of the earlier messages that came back, and `trigger` why they
    did; `inContext` those of all messages that are in it whole. `recall` is the answer of the recall, explained; `plugins`
    what they did to the context besides; `degraded` what it was made without."""

    session: Session
    budget: int
    tokens: int
    blocks: tuple[PromptBlock, ...]
    cut: tuple[CutPart, ...]
    trigger: Literal["explicit", "implicit"] | None = None
    recalled: tuple[str, ...]
    in_context: tuple[str, ...]
    genome: CompressedState
    providers: ProviderMessages
    plugins: tuple[PluginReport, ...] = ()
    degraded: tuple[Missing, ...] = ()
    recall: RecallAnswer | None = None


@route(
    blueprint,
    _MESSAGES,
    "POST",
    in_body(
        AppendRequest,
        turn={
            "messages": [
                {"id": "m1", "role": "user", "text": "We meet in Porto on Friday"},
                {"id": "m2", "role": "assistant", "text": "Noted"},
            ],
            "totalBudget": 4000,
        },
        begin={"messages": [], "extract": "off"},
    ),
    Gives(Appended),
    raises=(Conflict,),
)
def append_messages(call: Call[NoQuery, AppendRequest], session_id: str) -> Any:
    """Append messages to a session; the first append begins it. A repeat of messages by their ids gets the same receipts."""
    made = call.services.conversation.sessions.append(call.caller, session_id, call.body)
    return Appended(session=made.session, receipts=made.receipts, plugins=made.plugins)


@route(blueprint, _MESSAGES, "GET", in_query(MessagesQuery), Gives(MessagePage))
def read_messages(call: Call[MessagesQuery], session_id: str) -> Any:
    """The messages of a session as they were said, the oldest first."""
    query = call.query
    if query.latest is not None:
        if query.cursor is not None:
            raise InvalidInput("cursor", "goes with a page, and not with latest")
        latest = call.services.conversation.sessions.read_latest(call.caller, session_id, query.latest)
        return MessagePage(messages=tuple(latest), cursor=None)
    start = _position(query.cursor)
    found = call.services.conversation.sessions.read(call.caller, session_id, start, query.limit + 1)
    more = len(found) > query.limit
    return MessagePage(messages=tuple(found[: query.limit]), cursor=str(start + query.limit) if more else None)


@route(blueprint, "/engine/session/{session_id}/genome", "GET", NOTHING, Gives(GenomeAnswer))
def read_genome(call: Call, session_id: str) -> Any:
    """What is kept of the messages that left the window."""
    state = call.services.conversation.sessions.genome(call.caller, session_id)
    genome = state.genome
    return GenomeAnswer(
        genome=genome,
        token_count=genome.token_count,
        compression_ratio=genome.compression_ratio,
        dropped=genome.dropped,
        outside=state.outside,
    )


@route(
    blueprint,
    "/engine/session/{session_id}/context",
    "POST",
    in_body(
        ContextRequest,
        turn={
            "query": "Where did we say we meet?",
            "totalBudget": 4000,
            "responseBuffer": 500,
            "system": "Answer briefly.",
        },
    ),
    Gives(ContextAnswer),
)
def assemble_context(call: Call[NoQuery, ContextRequest], session_id: str) -> Any:
    """Assemble the prompt of the next turn; stores nothing."""
    made = call.services.conversation.context.assemble(call.caller, session_id, call.body)
    return Reply(on_wire(_answer(made)) | {"recall": made.recall})  # which is on the wire already


@route(blueprint, "/engine/session/{session_id}/end", "POST", NOTHING, Gives(Ended))
def end_session(call: Call, session_id: str) -> Any:
    """End a session; a message that is appended later begins it anew."""
    session, plugins = call.services.conversation.sessions.end(call.caller, session_id)
    return Ended(session=session, plugins=plugins)


@route(blueprint, "/engine/session/{session_id}", "DELETE", NOTHING, Gives(Deleted, HTTPStatus.OK))
def delete_session(call: Call, session_id: str) -> Any:
    """Delete a session with its messages, its genome and their index, for good; for its owner."""
    return Deleted(id=session_id, messages=call.services.conversation.sessions.delete(call.caller, session_id))


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < MOST_DIGITS):
        raise InvalidInput("cursor", "is not a cursor of this list")
    return int(cursor)


def _answer(made: "TurnContext") -> ContextAnswer:
    prompt, genome = made.composed.prompt, made.composed.genome
    state = CompressedState(
        version=made.genome.version, message_range=genome.message_range, token_count=genome.token_count
    )
    return ContextAnswer(
        session=made.session,
        budget=prompt.budget,
        tokens=prompt.tokens,
        blocks=tuple(
            PromptBlock(name=one.name, text=one.text, tokens=one.tokens, stable=one.is_stable) for one in prompt.blocks
        ),
        cut=tuple(CutPart(block=one.block, what=one.what, how=one.how) for one in prompt.cut),
        trigger=made.composed.trigger and made.composed.trigger.value,
        recalled=tuple(one.id for one in made.composed.came_back),
        in_context=tuple(sorted(prompt.in_context)),
        genome=state,
        providers=ProviderMessages(anthropic=anthropic(prompt), openai=openai(prompt)),
        plugins=made.plugins,
        degraded=made.degraded,
    )
