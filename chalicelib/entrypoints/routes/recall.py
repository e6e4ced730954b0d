"""`/engine/memories/recall` and `/engine/recalls`: ask, and see what a recall did."""

from typing import Any

from chalice.app import Blueprint

from chalicelib.domain.query import RecallAnswer, RecallQuery, RecallRecord
from chalicelib.entrypoints.answers import Reply
from chalicelib.entrypoints.contract import NOTHING, Gives, NoQuery, in_body
from chalicelib.entrypoints.http import Call, route
from chalicelib.errors import NotFound

blueprint = Blueprint(__name__)
LAYER_DEPRECATED = "@1796083200"
"""Since when, as RFC 9745 has it: 2026-12-01."""


@route(
    blueprint,
    "/engine/memories/recall",
    "POST",
    in_body(RecallQuery, question={"query": "Where does Ana live?", "limit": 5}),
    Gives(RecallAnswer, leads_to={"explain": {"recall_id": "/recallId"}}),
    raises=(NotFound,),
)
def recall(call: Call[NoQuery, RecallQuery]) -> Any:
    """Recall what matters for a query, explained. Where `layer` was sent, the header `Deprecation` says that it is one."""
    answer = call.services.recall.recall(call.caller, call.body)
    return Reply(answer, {"Deprecation": LAYER_DEPRECATED}) if call.body.layer else answer


@route(blueprint, "/engine/recalls/{recall_id}", "GET", NOTHING, Gives(RecallRecord))
def explain(call: Call, recall_id: str) -> Any:
    """What a recall did and why."""
    return call.services.recall_audit.read(call.caller, recall_id)
