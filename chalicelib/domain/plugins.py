"""What answers and receipts say of plugins, and how plugins are named."""

from enum import StrEnum

from pydantic import Field

from chalicelib.domain.wire import Wire

PLUGIN_NAME = r"^[a-z][a-z0-9_]{0,63}$"


class HookName(StrEnum):
    """Where a plugin can take part, in the order of a conversation."""

    SESSION_START = "session_start"
    BEFORE_RECALL = "before_recall"
    BEFORE_CONTEXT_ASSEMBLY = "before_context_assembly"
    BEFORE_RESPONSE = "before_response"
    AFTER_RESPONSE = "after_response"
    ON_MEMORY_ADMISSION = "on_memory_admission"
    ON_CONSOLIDATION = "on_consolidation"
    SESSION_END = "session_end"


class PluginOutcome(StrEnum):
    """What became of a plugin that is worth a word: it changed something, or it was left out.

    `cut`: it took too long. `raised`: it failed. `invalid`: what it gave is not allowed. `resting`: it was cut too often
    and is not asked for a while."""

    CHANGED = "changed"
    CUT = "cut"
    RAISED = "raised"
    INVALID = "invalid"
    RESTING = "resting"


class PluginReport(Wire):
    """What one plugin did at one hook. `ms` is how long it took, or was waited for."""

    name: str = Field(pattern=PLUGIN_NAME)
    hook: HookName
    outcome: PluginOutcome
    ms: float = 0.0
    reason: str | None = None
