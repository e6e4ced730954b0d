"""Who writes the questions: a language model where one is configured, else the heuristic; and what passes of theirs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pydantic import Field

from chalicelib.domain.memory import Memory
from chalicelib.domain.questions import MOST_QUESTION_CHARACTERS, MOST_QUESTIONS, QuestionAuthor
from chalicelib.domain.text.cleaning import carries_recall, is_blank, normal_form
from chalicelib.domain.text.secrets import redact
from chalicelib.domain.wire import Wire
from chalicelib.errors import LanguageModelFailed, LanguageModelUnavailable
from chalicelib.ports import LanguageModel, Telemetry
from chalicelib.write.prospective.heuristic import heuristic_questions

FEWEST_QUESTIONS = 3  # spec/product.md "Write path" 6
MOST_CHARACTERS_SENT = 8000
MOST_CHARACTERS_REPLIED = 2000
INSTRUCTIONS = (
    "You prepare a memory of an assistant for being found again. Write the 3 to 5 questions that its user is most likely "
    "to ask in a later conversation and that this memory answers: what, who, when, where, why. Write them in the language "
    "of the memory. Name people, places and things as the memory does, never 'it', 'he' or 'this'; use other words than "
    "the memory where people would. Each question is one short sentence and answered by the memory alone. Where the memory "
    "is small talk that nobody would ask about, give an empty list."
)
_ENDS = ("?", "？", "؟", "\u037e", ";", "か", "か。", "吗", "呢", "嗎", "까", "까.")
_MARKUP = frozenset("<>{}[]|`\\")
Check = Callable[[str], bool]


def nothing(_: str) -> bool:
    """The check that finds nothing."""
    return False


class WrittenQuestions(Wire):
    """The form that the language model fills in."""

    questions: tuple[str, ...] = Field(max_length=20)


@dataclass(frozen=True)
class Written:
    """Questions as texts, and who wrote them."""

    author: QuestionAuthor
    texts: tuple[str, ...]


class QuestionWriter:
    """Writes the questions of one memory. What passes is one line that asks, without markup, links or secrets; and nothing
    of which `is_injection` says that it tries to instruct the assistant."""

    def __init__(self, model: LanguageModel | None, telemetry: Telemetry, is_injection: Check = nothing) -> None:
        self._model = model
        self._telemetry = telemetry
        self._is_injection = is_injection

    def write(self, memory: Memory) -> Written:
        """At most 5 questions; none where nothing would be asked. LanguageModelUnavailable where the model may answer later;
        where it cannot, the heuristic writes them."""
        by_heuristic = Written(QuestionAuthor.HEURISTIC, self._accepted(heuristic_questions(memory)))
        if self._model is None:
            return by_heuristic
        try:
            reply = self._model.complete(INSTRUCTIONS, memory.indexed_text[:MOST_CHARACTERS_SENT], WrittenQuestions)
        except LanguageModelUnavailable:
            raise
        except LanguageModelFailed as error:
            self._telemetry.event("questions_by_heuristic", reason=error.message, memory_id=memory.id)
            return by_heuristic
        texts = self._accepted(reply.questions)
        if reply.questions and len(texts) < FEWEST_QUESTIONS:
            texts = self._accepted((*texts, *by_heuristic.texts))[: max(FEWEST_QUESTIONS, len(texts))]
        return Written(QuestionAuthor.LANGUAGE_MODEL, texts)

    def _accepted(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Those that may be stored, each once, as every string of every way in is cleaned."""
        kept: dict[str, str] = {}
        for text in texts:
            if (question := _cleaned(text)) and not self._is_injection(question):
                kept.setdefault(question.casefold(), question)
        return tuple(kept.values())[:MOST_QUESTIONS]


def _cleaned(text: str) -> str | None:
    try:
        line = normal_form(text[:MOST_CHARACTERS_REPLIED])
    except UnicodeEncodeError:
        return None
    _, secrets = redact(line)
    if secrets or carries_recall(line) or is_blank(line) or len(line) > MOST_QUESTION_CHARACTERS:
        return None
    return line if line.endswith(_ENDS) and not _MARKUP & set(line) and "://" not in line else None
