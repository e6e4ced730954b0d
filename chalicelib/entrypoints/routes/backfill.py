"""`/engine/memories/backfill-embeddings`: for admins, of their own organization."""

from typing import Any

from chalice.app import Blueprint

from chalicelib.domain.backfill import BackfillProgress
from chalicelib.domain.caller import Role
from chalicelib.entrypoints.contract import NOTHING, Gives
from chalicelib.entrypoints.http import Call, route

blueprint = Blueprint(__name__)
PATH = "/engine/memories/backfill-embeddings"


@route(blueprint, PATH, "POST", NOTHING, Gives(BackfillProgress))
def start_backfill(call: Call) -> Any:
    """Begin to give every memory of the organization the vectors that it lacks, or go on with it. It works for a few seconds
    and leaves the rest to the queue."""
    call.caller.require(Role.ADMIN)
    progress = call.services.backfill.start(call.caller.org_id)
    call.services.auditor.record(call.caller, "backfill_embeddings", [call.caller.org_id])
    return progress


@route(blueprint, PATH, "GET", NOTHING, Gives(BackfillProgress))
def backfill_progress(call: Call) -> Any:
    """How far the backfill of the organization is."""
    call.caller.require(Role.ADMIN)
    return call.services.backfill.progress(call.caller.org_id)
