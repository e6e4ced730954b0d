"""The worked example of docs/agent-loop.md, run as printed: a model that knows nothing but its context answers what was said
long before its window."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.text.terms import index_terms
from tests.e2e.client import Api, User

DOCUMENT = Path(__file__).parents[2] / "docs" / "agent-loop.md"
CHATTER = 40
UNKNOWN = "I was not told."
Answer = Callable[[str], str]


def from_context(messages: list[dict[str, str]]) -> str:
    """A model that answers with the line of its context which shares most words with what is asked last."""
    asked = set(index_terms(messages[-1]["content"]).counts)
    told = "\n".join(message["content"] for message in messages[:-1])
    lines = [line for line in told.splitlines() if not line.rstrip().endswith("?")]
    shared = {line: len(asked & set(index_terms(line).counts)) for line in lines}
    best = max(shared, key=lambda line: shared[line], default="")
    return best if shared.get(best, 0) > 1 else UNKNOWN


@pytest.fixture
def made() -> Callable[..., Answer]:
    """The function that the document defines."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {"itertools": itertools}
    exec(compile(code, str(DOCUMENT), "exec"), names)
    loop: Callable[..., Answer] = names["agent"]
    return loop


def posting(user: User) -> Callable[[str, dict[str, Any]], Any]:
    """What the document calls `post`."""

    def post(path: str, body: dict[str, Any]) -> Any:
        reply = user.post(path, body)
        assert reply.status == 200, reply.body
        return reply.json

    return post


def drained(api: Api) -> None:
    """Have the worker see to everything."""
    api.services.after_response.settle()
    api.services.consumer.drain()


def test_the_loop_answers_from_its_context_what_left_the_window_long_ago(api: Api, made: Callable[..., Answer]) -> None:
    answer = made(posting(api.user("ana")), from_context, "talk", extract="off")
    answer("The greenhouse costs 7340 euros and Lindqvist pays in March")
    for number in range(CHATTER):
        answer(f"Note {number}: the weather in town {number % 7} stays mild, and the market opens at {number % 12}")
        drained(api)
    assert "7340" in answer("How much does the greenhouse of Lindqvist cost?")
    assert answer("Which violin concerto did Sibelius write?") == UNKNOWN


def test_another_users_loop_is_told_nothing_of_it(api: Api, made: Callable[..., Answer]) -> None:
    ana, bob = (made(posting(api.user(name)), from_context, f"talk-{name}") for name in ("ana", "bob"))
    ana("The greenhouse costs 7340 euros and Lindqvist pays in March")
    drained(api)
    assert "7340" in ana("How much does the greenhouse of Lindqvist cost?")
    assert "7340" not in bob("How much does the greenhouse of Lindqvist cost?")
