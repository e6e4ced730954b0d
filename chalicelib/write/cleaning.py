"""What the contents and tags of a memory must be, once they are cleaned (`domain.incoming`)."""

from chalicelib.domain.memory import MAX_CONTENT_BYTES
from chalicelib.domain.text.cleaning import is_blank
from chalicelib.errors import InvalidInput


def checked_content(content: str, field: str) -> str:
    """`content` where it is not blank and within 16 KB."""
    if is_blank(content):
        raise InvalidInput(field, "must not be empty")
    return checked_size(content, field)


def checked_size(content: str, field: str) -> str:
    """`content` where it is within 16 KB; asked before cleaning too, which takes its time on a long text."""
    if (size := len(content.encode(errors="surrogatepass"))) > MAX_CONTENT_BYTES:
        raise InvalidInput(field, f"is {size} bytes; at most {MAX_CONTENT_BYTES} are allowed", limit=MAX_CONTENT_BYTES)
    return content


def checked_tags(tags: tuple[str, ...], field: str) -> tuple[str, ...]:
    """The tags, each once, none blank."""
    for i, tag in enumerate(tags):
        if is_blank(tag):
            raise InvalidInput(f"{field}.{i}", "must not be empty")
    return tuple(dict.fromkeys(tags))
