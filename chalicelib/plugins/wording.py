"""What a plugin writes for an assistant to read: held to the rules of a memory's text, and dropped where it breaks one."""

from collections.abc import Iterable

from chalicelib.domain.text.cleaning import carries_recall, clean, is_blank
from chalicelib.domain.text.injection import found_in_any
from chalicelib.domain.text.secrets import redact
from chalicelib.plugins.hooks import MAX_NOTE
from chalicelib.plugins.manager import NotAllowed


def fit_to_be_read(texts: Iterable[str], what: str, beside: Iterable[str] = ()) -> list[str]:
    """The texts, each in one Unicode form. `what` is what a plugin calls one; `beside` is what stands there already, since a
    prompt injection may be made of several texts that are harmless alone.

    NotAllowed says what is wrong, by its kind and never in its words: one says nothing, is longer than 500 characters,
    brings a recalled block back or has a secret, or they would instruct the assistant."""
    found = [_clean(text, what) for text in texts]
    if kinds := found_in_any(dict.fromkeys((*beside, *found))):
        raise NotAllowed(f"{what} would instruct the assistant ({', '.join(kinds)})")
    return found


def _clean(written: str, what: str) -> str:
    try:
        text = clean(written)
    except UnicodeEncodeError:
        raise NotAllowed(f"{what} is not valid Unicode") from None
    if is_blank(text) or len(text) > MAX_NOTE or carries_recall(text):
        raise NotAllowed(
            f"{what} must say something, in at most {MAX_NOTE} characters, and bring no recalled block back"
        )
    _, secrets = redact(text)
    if secrets:
        raise NotAllowed(f"{what} has a secret in it ({', '.join(secrets)})")
    return text
