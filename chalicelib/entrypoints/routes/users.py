"""`/engine/users`: what is kept of a user, for that user and for admins."""

from typing import Any

from chalice.app import Blueprint
from pydantic import Field

from chalicelib.domain.genome.model import Decision, Fact, Topic
from chalicelib.domain.wire import UtcTime
from chalicelib.entrypoints.contract import NOTHING, Answer, Gives
from chalicelib.entrypoints.http import Call, route

blueprint = Blueprint(__name__)


class UserGenomeAnswer(Answer):
    """What a user's own words in all their sessions come to. `merges` counts how often something was taken in."""

    user_id: str
    topics: tuple[Topic, ...] = Field(description="those of the last seven days")
    decisions: tuple[Decision, ...]
    facts: tuple[Fact, ...]
    action_items: tuple[str, ...]
    token_count: int = Field(description="tokens that it takes in a prompt; at most 1,000")
    merges: int
    version: int
    last_updated: UtcTime | None = None


@route(blueprint, "/engine/users/{user_id}/genome", "GET", NOTHING, Gives(UserGenomeAnswer))
def read_user_genome(call: Call, user_id: str) -> Any:
    """The genome of a user: one's own, or for an admin that of any user of the organization, which the audit notes."""
    genome = call.services.user_genomes.shown_to(call.caller, user_id)
    if user_id != call.caller.user_id:
        call.services.auditor.record(call.caller, "read_user_genome", [user_id])
    return UserGenomeAnswer(**{name: getattr(genome, name) for name in UserGenomeAnswer.model_fields})
