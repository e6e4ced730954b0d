"""Emotional context as a plugin: the tone of the latest messages is a hint for one context, and is stored nowhere."""

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
        from chalicelib.domain.tone import hint, tone  # noqa: PLC0415 - a cold start pays nothing for the wording

        text = hint(tone(context.messages))
        return ContextHint(text=text) if text else None
