"""Embeds BEAM ahead of its bench: the texts that the product will send for its messages and questions, into the cache on
disk. It takes about an hour once; a run that was killed goes on where it stopped."""

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from chalicelib.domain.calibration import calibration_of
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.text.chunks import chunks
from chalicelib.write.drafts import Draft, draft
from vitto_tools.bench.baselines import embed
from vitto_tools.bench.beam import Chat
from vitto_tools.bench.embedding_cache import EmbeddingCache
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import CACHE_FILE, cached_embedding
from vitto_tools.local import servers

PASSAGES, QUERIES = "e5-passage", "e5-query"
BATCH = 8  # what a killed run loses
_EXPECTED = "about an hour for all of BEAM on one core; it may be stopped and goes on"


def embed_ahead(report: Report, data: Sequence[Chat]) -> None:
    """Embed what the cache lacks of `data`, with progress, by a model server of its own on one thread."""
    with report.progress("BEAM: splitting messages", len(data)) as advance:
        lacking = []
        for chat in data:
            lacking += _lacking(chat)
            advance(1)
    if not lacking:
        return
    report.say(f"BEAM: {len(lacking):,} texts have no embedding in {CACHE_FILE} yet; {_EXPECTED}")
    with _server() as url, report.progress("BEAM: embedding", len(lacking)) as advance:
        for start in range(0, len(lacking), BATCH):
            part = lacking[start : start + BATCH]
            for model in (PASSAGES, QUERIES):
                if texts := [text for asked, text in part if asked == model]:
                    embed(url, model, texts)
            advance(len(part))


def passages(chat: Chat) -> list[list[str]]:
    """The pieces that the product sends for each memory of `chat`: it cleans, dates and splits a text before."""
    caller = Caller("beam", chat.name, frozenset({Role.MEMBER}))
    now, limit = datetime.now(UTC), calibration_of(PASSAGES, {}).chunk_characters
    drafts = [draft(caller, item, now) for item in chat.items()]
    return [chunks(one.memory.indexed_text, limit) for one in drafts if isinstance(one, Draft)]


def _lacking(chat: Chat) -> list[tuple[str, str]]:
    """Model and text of each that the cache does not have."""
    limit = calibration_of(PASSAGES, {}).chunk_characters
    asked = [(QUERIES, piece) for question in chat.questions for piece in chunks(question.text, limit)]
    asked += [(PASSAGES, piece) for pieces in passages(chat) for piece in pieces]
    return EmbeddingCache(CACHE_FILE).lacking(asked)


@contextlib.contextmanager
def _server() -> Iterator[str]:
    """The address of a cached embedding server."""
    model, cache = servers.free_port(), servers.free_port()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for server in (servers.embedding(model, threads=1), cached_embedding(cache, model)):
            stack.callback(servers.start(server, folder / f"{server.name}.log").stop)
        yield f"http://{servers.HOST}:{cache}/v1"
