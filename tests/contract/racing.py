"""Calls that happen at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def at_once[T](*calls: Callable[[], T]) -> list[T]:
    """What the calls give when they all begin at the same time."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
