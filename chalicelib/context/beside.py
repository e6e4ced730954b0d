"""Work of a request that goes on beside it in threads of its own: what waits for stores need not wait for one another."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Self

AT_ONCE = 2  # threads of a request: the prefix is read and memory is asked while the session is read


class Beside:
    """Goes along with the request's budget. Nothing of it outlives the request: leaving waits for all of it."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="context")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()

    def begin[T](self, work: Callable[[], T]) -> Future[T]:
        """Begin `work`; its result is there, or its error raised, once it is asked for."""
        return self._threads.submit(copy_context().run, work)
