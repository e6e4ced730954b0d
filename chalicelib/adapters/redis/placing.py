"""What the index in Redis keeps of where a row was said, as it is written and as it comes back with a candidate."""

import json
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from chalicelib.domain.place import Place, Situation
from chalicelib.ports import IndexEntry


def stored(change: IndexEntry) -> str:
    """The place of a row as `scripts/places.lua` wants it; beside that stand speaker, question, length and event time."""
    place = change.place
    kept: dict[str, Any] = {"n": list(place.names), "l": change.length, "e": change.event_ms}
    if place.session:
        kept["s"] = quote(place.session, safe="")
    if place.speaker:
        kept["w"] = place.speaker
    if place.asks:
        kept["q"] = 1
    return json.dumps(kept, ensure_ascii=False)


@lru_cache(maxsize=8192)  # a row is found again and again, and what is kept of it hardly ever changes
def situation(text: bytes, position: int | bytes) -> Situation | None:
    """What was stored of a row, with its position in its session; None where nothing is known of it."""
    if not text:
        return None
    kept = json.loads(text)
    place = Place(unquote(kept["s"]) if "s" in kept else None, kept.get("w"), "q" in kept)
    return Situation(place, None if position == b"" else int(position), kept["l"], kept["e"])
