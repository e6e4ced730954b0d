"""Emotional context as a plugin: the tone of the latest messages is a hint for one context, and is stored nowhere."""

from chalicelib.domain.tone import hint, tone
from chalicelib.plugins.hooks import AssemblingContext, ContextHint, hook


class EmotionalContext:
    """The plugin."""

    name = "emotional_context"
    description = (
        "Tells the assistant the tone of the latest messages, for the next answer alone. Nothing of it is stored."
    )

    @hook
    def before_context_assembly(self, context: AssemblingContext) -> ContextHint | None:
        """The hint, where the tone is plain."""
        text = hint(tone(context.messages))
        return ContextHint(text=text) if text else None
