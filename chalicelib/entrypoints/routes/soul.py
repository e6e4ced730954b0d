"""`/engine/soul`: who the assistant is; for members to read and admins to set up."""

from typing import Any

from chalice.app import Blueprint
from pydantic import Field

from chalicelib.domain.soul import Soul, StoredSoul
from chalicelib.domain.wire import UtcTime
from chalicelib.entrypoints.contract import NOTHING, Answer, Gives, NoQuery, in_body
from chalicelib.entrypoints.http import Call, route

blueprint = Blueprint(__name__)


class SoulAnswer(Answer):
    """The Soul, an empty one where none was set up, and the brief that prompts carry of it."""

    soul: Soul
    digest: str = Field(description="SHA-256 of the Soul's content")
    brief: str = Field(description="the Soul in at most 150 tokens of TOON, as every prompt begins")
    brief_tokens: int
    updated_at: UtcTime | None = None
    updated_by: str | None = None


class ChangedSoul(SoulAnswer):
    """The Soul as it is now, and the kinds of secrets that were replaced in what was sent."""

    redacted: tuple[str, ...]


@route(blueprint, "/engine/soul", "GET", NOTHING, Gives(SoulAnswer))
def read_soul(call: Call) -> Any:
    """The Soul of the caller's organization."""
    return SoulAnswer(**_told(call.services.souls.of(call.caller.org_id)))


@route(
    blueprint,
    "/engine/soul",
    "PUT",
    in_body(
        Soul,
        colleague={
            "name": "Vitto",
            "character": "Warm, precise and calm.",
            "values": ["honesty before comfort", "no guesses told as facts"],
            "mood": "serene",
            "persona": "An experienced colleague who asks before assuming.",
        },
    ),
    Gives(ChangedSoul),
)
def put_soul(call: Call[NoQuery, Soul]) -> Any:
    """Replace the Soul of the organization, whole; `{}` takes it away. Takes an admin."""
    kept, redacted = call.services.souls.put(call.caller, call.body)
    return ChangedSoul(**_told(kept), redacted=redacted)


def _told(kept: StoredSoul | None) -> dict[str, Any]:
    from chalicelib.domain.text.tokens import estimate  # noqa: PLC0415 - a cold start has no use for them
    from chalicelib.prompt.soul import soul_brief  # noqa: PLC0415

    soul = kept.soul if kept else Soul()
    brief = soul_brief(soul)
    said = {"updated_at": kept.updated_at, "updated_by": kept.updated_by} if kept else {}
    return {"soul": soul, "digest": soul.digest, "brief": brief, "brief_tokens": estimate(brief), **said}
