"""`/engine/memories/recall` and `/engine/recalls`: ask, and see what a recall did."""

from typing import Any

from chalice.app import Blueprint

from chalicelib.domain.query import RecallQuery
from chalicelib.domain.validation import validated
from chalicelib.entrypoints.http import Call, route
from chalicelib.entrypoints.routes.memories import NoQuery

blueprint = Blueprint(__name__)


@route(blueprint, "/engine/memories/recall", "POST")
def recall(call: Call) -> Any:
    """Recall what matters for a query, explained."""
    call.query(NoQuery)
    return call.services.recall.recall(call.caller, validated(RecallQuery, call.body()))


@route(blueprint, "/engine/recalls/{recall_id}", "GET")
def explain(call: Call, recall_id: str) -> Any:
    """What a recall did and why."""
    call.query(NoQuery)
    record = call.services.recall_audit.read(call.caller, recall_id)
    return record.model_dump(mode="json", by_alias=True, exclude_none=True)
