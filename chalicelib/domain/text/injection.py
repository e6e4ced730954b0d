"""The check for text that tries to instruct the assistant, in the signature that the write path asks it by.

This module finds nothing; the injection defence brings the module of this name that does, and it replaces this one whole.
"""


def found_in(text: str) -> tuple[str, ...]:
    """The kinds of injection patterns in `text`; empty when it is clean."""
    del text
    return ()
