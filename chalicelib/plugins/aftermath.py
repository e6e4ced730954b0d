"""Work after a response, plugins above all: it holds up nobody, and what plugins give is not looked at."""

import threading
from collections.abc import Callable

from chalicelib.domain.caller import Caller
from chalicelib.domain.plugins import HookName
from chalicelib.plugins.hooks import Answered, AnswerKind
from chalicelib.plugins.manager import Plugins, nothing
from chalicelib.ports import Telemetry

AFTER_RESPONSE = "after-response"  # what its threads are called
MOST_AT_ONCE = 16  # answers whose plugins are at work; a further one waits for its own


class AfterResponse:
    """Runs what comes after a response: in a thread of its own, or before it where a process sleeps once it has answered.

    `wait` is for such processes: a function on Lambda stands still between two requests, with all of its threads."""

    def __init__(self, plugins: Plugins, telemetry: Telemetry, *, wait: bool = False) -> None:
        self._plugins = plugins
        self._telemetry = telemetry
        self._wait = wait
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)

    def answered(self, caller: Caller, kind: AnswerKind, show: Callable[[], Answered]) -> None:
        """Have the plugins of the caller's organization told of what `show` makes. It never raises."""
        org_id = caller.org_id
        if not self._plugins.listens(HookName.AFTER_RESPONSE, org_id, kind):
            return
        said = show()
        self.later(lambda: self._tell(org_id, said))

    def later(self, work: Callable[[], None]) -> None:
        """Have `work`, which raises nothing, done in a thread of its own; at once where too many are at work already, and
        where the process sleeps once it has answered."""
        if self._wait or not self._free.acquire(blocking=False):
            work()
            return
        threading.Thread(target=self._do_and_free, args=(work,), name=AFTER_RESPONSE, daemon=True).start()

    def _do_and_free(self, work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            self._free.release()

    def settle(self) -> None:
        """Wait until the plugins of every answer so far are done."""
        for _ in range(MOST_AT_ONCE):
            self._free.acquire()
        for _ in range(MOST_AT_ONCE):
            self._free.release()

    def _tell(self, org_id: str, said: Answered) -> None:
        self._plugins.run(
            HookName.AFTER_RESPONSE, org_id, said, kind=said.kind, show=lambda state: state, accept=nothing
        )
