"""Text of any kind as a part of a Markdown page that it cannot break out of."""

import re

_LONGEST_TITLE = 80
_LOOKED_AT = 4 * _LONGEST_TITLE
_ELLIPSIS = "…"
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#!|~&$@]")  # what begins a line alone cannot stand there
_FENCE = 3
_BACKTICKS = re.compile("`+")


def one_line(text: str) -> str:
    """The words of `text` with single blanks between them, without what ends a line or cannot be seen."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def inline(text: str) -> str:
    """`text` as plain words of a line."""
    return _MARKUP.sub(lambda found: f"\\{found.group()}", one_line(text))


def title(text: str) -> str:
    """The beginning of `text` as a heading's words."""
    line = one_line(text.lstrip()[:_LOOKED_AT])
    if len(line) > _LONGEST_TITLE:
        line = line[:_LONGEST_TITLE].rpartition(" ")[0] or line[:_LONGEST_TITLE]
        return inline(line) + _ELLIPSIS
    return inline(line)


def code(text: str) -> str:
    """`text` as a span of code, in one line."""
    line = one_line(text)
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}" if line else ""


def literal(text: str) -> str:
    """`text` as a block that shows it as it is; no line of it ends the block."""
    fence = "`" * max(_FENCE, _longest_run(text) + 1)
    return f"{fence}text\n{text.rstrip('\n')}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
