"""Embeds dialogues ahead of their bench: the texts that the product will send for them, into the cache on disk. For all of
BEAM it takes some hours on one core, once; a run that was killed goes on where it stopped."""

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.domain.calibration import calibration_of
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import Memory
from chalicelib.domain.place import place_of
from chalicelib.domain.text.chunks import chunks
from chalicelib.domain.text.injection import found_in
from chalicelib.domain.text.names import without_names
from chalicelib.write.drafts import Draft, draft
from chalicelib.write.prospective.writer import QuestionWriter
from vitto_tools.bench.baselines import embed
from vitto_tools.bench.dialogues import Dialogue
from vitto_tools.bench.embedding_cache import EmbeddingCache
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import CACHE_FILE, cached_embedding
from vitto_tools.local import servers

PASSAGES, QUERIES = "e5-passage", "e5-query"
BATCH = 8  # what a killed run loses
Asked = tuple[str, str]  # a model and a text


def embed_ahead(report: Report, dialogues: Sequence[Dialogue], *, prospective: bool) -> None:
    """Embed what the cache lacks of `dialogues`, with progress, by a model server of its own on one thread; where wanted,
    their prospective questions too."""
    lacking = _lacking(report, dialogues, prospective=prospective)
    if not lacking:
        return
    report.say(f"{len(lacking):,} texts have no embedding in {CACHE_FILE} yet; this may be stopped and goes on later")
    with _server() as url, report.progress("embedding", len(lacking)) as advance:
        for start in range(0, len(lacking), BATCH):
            part = lacking[start : start + BATCH]
            for model in (PASSAGES, QUERIES):
                if texts := [text for asked, text in part if asked == model]:
                    embed(url, model, texts)
            advance(len(part))


def memories(dialogue: Dialogue) -> list[Memory]:
    """The memories that the product makes of `dialogue`: it cleans and dates a text before it embeds it."""
    caller, now = Caller("bench", dialogue.name, frozenset({Role.MEMBER})), datetime.now(UTC)
    drafts = [draft(caller, item, now) for item in dialogue.items()]
    return [one.memory for one in drafts if isinstance(one, Draft)]


def of_messages(dialogue: Dialogue, made: Sequence[Memory]) -> list[Asked]:
    """What the product sends for the messages and questions of `dialogue`, in the pieces that it splits them into. Questions
    are embedded without the names of who speaks in it, and whole for the baseline."""
    limit = calibration_of(PASSAGES, {}).chunk_characters
    speakers = {word for memory in made for word in place_of(memory).names}
    asked = [question.text for question in dialogue.questions]
    asked += [without_names(text, speakers) for text in asked]
    queries = [(QUERIES, piece) for text in dict.fromkeys(asked) for piece in chunks(text, limit)]
    return [*queries, *((PASSAGES, piece) for memory in made for piece in chunks(memory.indexed_text, limit))]


def of_prospective(made: Sequence[Memory]) -> list[Asked]:
    """What it sends for the prospective questions that the heuristic writes about memories."""
    writer = QuestionWriter(None, RecordedTelemetry(), lambda text: bool(found_in(text)))
    return [(PASSAGES, text) for memory in made for text in writer.write(memory).texts]


def _lacking(report: Report, dialogues: Sequence[Dialogue], *, prospective: bool) -> list[Asked]:
    """What the cache does not have: of the messages of all, then of their prospective questions."""
    messages: list[Asked] = []
    questions: list[Asked] = []
    with report.progress("looking for embeddings", len(dialogues)) as advance:
        for dialogue in dialogues:
            made = memories(dialogue)
            messages += of_messages(dialogue, made)
            questions += of_prospective(made) if prospective else []
            advance(1)
    return EmbeddingCache(CACHE_FILE).lacking([*messages, *questions])


@contextlib.contextmanager
def _server() -> Iterator[str]:
    """The address of a cached embedding server."""
    model, cache = servers.free_port(), servers.free_port()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for server in (servers.embedding(model, threads=1), cached_embedding(cache, model)):
            stack.callback(servers.start(server, folder / f"{server.name}.log").stop)
        yield f"http://{servers.HOST}:{cache}/v1"
