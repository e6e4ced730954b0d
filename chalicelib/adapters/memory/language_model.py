"""A language model in this process, which answers as it is told: for tests, and for running without one."""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from chalicelib.domain.wire import Wire
from chalicelib.errors import InvalidInput, LanguageModelFailed, LanguageModelUnavailable

MOST_CHARACTERS = 24_000


class ScriptedLanguageModel:
    """`ports.LanguageModel`. `answer` gives what to fill the form with from the instructions and the data; `down` makes
    every call fail as a server that is away does."""

    def __init__(self, answer: Callable[[str, str], Any], most_characters: int = MOST_CHARACTERS) -> None:
        self._answer = answer
        self._most_characters = most_characters
        self.down = False
        self.calls: list[str] = []

    @property
    def name(self) -> str:
        return "scripted"

    def probe(self) -> dict[str, Any]:
        if self.down:
            raise LanguageModelUnavailable("the language model was told to be down")
        return {"model": self.name}

    def complete[T: Wire](self, instructions: str, data: str, form: type[T]) -> T:
        if (size := len(instructions) + len(data)) > self._most_characters:
            raise InvalidInput("data", f"is {size} characters with the instructions", limit=self._most_characters)
        self.calls.append(data)
        self.probe()
        try:
            return form.model_validate(self._answer(instructions, data))
        except ValidationError as error:
            raise LanguageModelFailed("the language model's answer is not of the form asked for") from error
