"""Plugins around a session: its start, its end, and hints for a context that is being assembled."""

from collections.abc import Sequence
from typing import Any

from chalicelib.domain.caller import Caller
from chalicelib.domain.conversation import Message
from chalicelib.domain.plugins import HookName
from chalicelib.plugins.hooks import AssemblingContext, ContextHint, Identity, Session
from chalicelib.plugins.manager import Plugins, Reports, given, nothing
from chalicelib.plugins.registry import Registered
from chalicelib.plugins.wording import fit_to_be_read


class SessionHooks:
    """What whoever keeps sessions calls."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    def started(self, caller: Caller, session_id: str) -> Reports:
        """Tell the plugins that a session begins."""
        return self._tell(HookName.SESSION_START, Session(caller=Identity.of(caller), session_id=session_id))

    def ended(self, caller: Caller, session_id: str, messages: Sequence[Message]) -> Reports:
        """Tell the plugins that a session has ended, with its messages, the oldest first."""
        said = Session(caller=Identity.of(caller), session_id=session_id, messages=tuple(messages))
        return self._tell(HookName.SESSION_END, said)

    def hints(self, caller: Caller, session_id: str, messages: Sequence[Message]) -> tuple[tuple[str, ...], Reports]:
        """The hints for a context, in the order of the plugins. One that has a secret or would instruct the assistant is
        left out, and its plugin reported."""
        context = AssemblingContext(caller=Identity.of(caller), session_id=session_id, messages=tuple(messages))
        nobody: tuple[str, ...] = ()
        return self._plugins.run(
            HookName.BEFORE_CONTEXT_ASSEMBLY,
            caller.org_id,
            nobody,
            show=lambda _: context,
            accept=_with_hint,
        )

    def _tell(self, hook: HookName, said: Session) -> Reports:
        _, reports = self._plugins.run(hook, said.caller.org_id, said, show=lambda state: state, accept=nothing)
        return reports


def _with_hint(hints: tuple[str, ...], value: Any, _: Registered) -> tuple[str, ...]:
    hint = given(ContextHint, value)
    return (*hints, *fit_to_be_read([hint.text], "its hint", beside=hints))
