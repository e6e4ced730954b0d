"""A prompt in the message formats of two providers, with a cache breakpoint where the format has one."""

from typing import Any

from chalicelib.prompt.blocks import Block, BlockName, Prompt, Turn

_CACHED = {"cache_control": {"type": "ephemeral"}}
CONTINUES = "[The conversation goes on.]"
"""Stands where a conversation has to begin with the user and the window begins with the assistant."""


def anthropic(prompt: Prompt) -> dict[str, Any]:
    """`system` and `messages` of Anthropic's messages API: the last stable block carries the breakpoint; turns alternate and
    begin with the user, as the API asks."""
    system = [_text(block) for block in prompt.blocks if block.name not in {BlockName.RECALLED, BlockName.WINDOW}]
    stable = sum(block.is_stable for block in prompt.blocks)
    if stable:
        system[stable - 1] |= _CACHED
    return {"system": system, "messages": _alternating(prompt)}


def openai(prompt: Prompt) -> dict[str, Any]:
    """`messages` of OpenAI's chat API, which caches the longest common prefix by itself."""
    stable = "\n\n".join(block.text for block in prompt.blocks if block.is_stable)
    messages = [{"role": "system", "content": text} for text in (stable, prompt.text_of(BlockName.GENOME)) if text]
    if recalled := prompt.text_of(BlockName.RECALLED):
        messages.append({"role": "user", "content": recalled})
    messages += [{"role": turn.role, "content": turn.text} for turn in prompt.turns]
    return {"messages": messages}


def _alternating(prompt: Prompt) -> list[dict[str, Any]]:
    recalled = prompt.text_of(BlockName.RECALLED)
    turns = [*([Turn("user", recalled)] if recalled else []), *prompt.turns]
    if turns and turns[0].role == "assistant":
        turns.insert(0, Turn("user", CONTINUES))
    messages: list[dict[str, Any]] = []
    for turn in turns:
        content = {"type": "text", "text": turn.text}
        if messages and messages[-1]["role"] == turn.role:
            messages[-1]["content"].append(content)
        else:
            messages.append({"role": turn.role, "content": [content]})
    return messages


def _text(block: Block) -> dict[str, Any]:
    return {"type": "text", "text": block.text}
