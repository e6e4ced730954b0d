"""From what a caller sent to messages that can be appended: validated, cleaned, and without secrets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.caller import Caller
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.incoming import cleaned
from chalicelib.domain.session import MAX_MESSAGE_BYTES, KeptMessage, indexed_text
from chalicelib.domain.session_input import MessageInput, MessageReceipt
from chalicelib.domain.text.cleaning import carries_recall, is_blank
from chalicelib.domain.text.terms import index_terms
from chalicelib.errors import InvalidInput

BROUGHT_BACK = "the text brings back a block that was recalled from here"


@dataclass(frozen=True)
class Draft:
    """A message on its way in, with the kinds of secrets that were taken out; `kept` is None where it is skipped."""

    id: str
    redacted: tuple[str, ...]
    kept: KeptMessage | None

    def receipt(self, position: int | None) -> MessageReceipt:
        """The receipt of it, stored there or skipped."""
        if position is None:
            return MessageReceipt(id=self.id, outcome="skipped", reason=BROUGHT_BACK, redacted=self.redacted)
        return MessageReceipt(id=self.id, outcome="stored", position=position, redacted=self.redacted)


def drafts(caller: Caller, messages: Sequence[MessageInput], now: datetime, *, extract: bool) -> list[Draft]:
    """The drafts of a batch, in its order. What users said is the caller's; `extract` says whether it may become memories.
    InvalidInput names the field that is wrong."""
    return [_draft(caller, message, f"messages.{i}.", now, extract=extract) for i, message in enumerate(messages)]


def checked_text(text: str, field: str) -> str:
    """`text` where it is not blank and within 64 KB."""
    if (size := len(text.encode(errors="surrogatepass"))) > MAX_MESSAGE_BYTES:
        raise InvalidInput(field, f"is {size} bytes; at most {MAX_MESSAGE_BYTES} are allowed", limit=MAX_MESSAGE_BYTES)
    if is_blank(text):
        raise InvalidInput(field, "must not be empty")
    return text


def _draft(caller: Caller, sent: MessageInput, prefix: str, now: datetime, *, extract: bool) -> Draft:
    checked_text(sent.text, f"{prefix}text")  # before cleaning, which takes its time on a long text
    given, redacted = cleaned(sent, prefix)
    checked_text(given.text, f"{prefix}text")
    if carries_recall(given.text):
        return Draft(given.id, redacted, None)
    said = SessionMessage(
        id=given.id,
        position=0,
        role=given.role,
        author=caller.user_id if given.role == "user" else None,
        name=given.name,
        text=given.text,
        at=given.at or now,
    )
    terms = index_terms(indexed_text(said))
    kept = KeptMessage(said, terms.counts, terms.length, extract=extract and given.role == "user", pending_since=now)
    return Draft(given.id, redacted, kept)
