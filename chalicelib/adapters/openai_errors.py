"""What OpenAI's client raises, told in the terms of the ports: to be asked again later, or refused for good."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chalicelib.errors import StoreUnavailable, VittoError

_TRY_LATER = frozenset({408, 409, 429})
_SERVER_ERRORS = 500


@contextmanager
def told_by_the_client(store: str, refused: Callable[[str], VittoError]) -> Iterator[None]:
    """StoreUnavailable of `store` where its server says nothing of use; what `refused` makes of the error's name where it is
    well and will not do what is asked."""
    from openai import APIStatusError, OpenAIError  # noqa: PLC0415 - the slowest import of all (facts.md)

    try:
        yield
    except APIStatusError as error:
        if error.status_code < _SERVER_ERRORS and error.status_code not in _TRY_LATER:
            raise refused(type(error).__name__) from error
        raise StoreUnavailable(store, type(error).__name__) from error
    except OpenAIError as error:
        raise StoreUnavailable(store, type(error).__name__) from error
    except ValueError as error:  # the client lets a body through that calls itself JSON and is not
        raise StoreUnavailable(store, "it gave something that is no JSON") from error
