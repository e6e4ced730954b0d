"""Every route under /engine with what has to be sent so that nothing but the credential or the id can be wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chalicelib.domain.caller import Role

Names = Literal["memory", "forgotten", "recall", "key", "session", "user"]
Route = tuple[str, str]


@dataclass(frozen=True)
class Ask:
    """One way to ask a route. `names` is what the id in its path is the id of; None where there is no id. It `begins` what
    is not there yet under that id. With `own` somebody of the same id elsewhere asks for what is theirs."""

    names: Names | None = None
    body: Any = None
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    role: Role = Role.MEMBER
    begins: bool = False
    own: bool = False


ROUTES: dict[Route, tuple[Ask, ...]] = {
    ("POST", "/engine/memories"): (Ask(body={"content": "nobody may store this"}),),
    ("GET", "/engine/memories"): (Ask(), Ask(query="status=quarantined", role=Role.REVIEWER)),
    ("POST", "/engine/memories/recall"): (Ask(body={"query": "what is there?"}),),
    ("POST", "/engine/memories/backfill-embeddings"): (Ask(role=Role.ADMIN),),
    ("GET", "/engine/memories/backfill-embeddings"): (Ask(role=Role.ADMIN),),
    ("POST", "/engine/memories/export-to-docs"): (Ask(role=Role.ADMIN), Ask(body={"users": True}, role=Role.ADMIN)),
    ("GET", "/engine/memories/export-to-docs"): (Ask(role=Role.ADMIN),),
    ("GET", "/engine/memories/{id}"): (Ask("memory"), Ask("forgotten")),
    ("PATCH", "/engine/memories/{id}"): (
        Ask("memory", body={"content": "changed"}, headers={"If-Match": '"2"'}),
        Ask("memory", body={"content": "changed"}, headers={"If-Match": '"2"'}, role=Role.ADMIN),
        Ask("memory", body={"content": "changed"}),
        Ask("forgotten", body={"content": "changed"}, headers={"If-Match": '"2"'}),
    ),
    ("DELETE", "/engine/memories/{id}"): (
        Ask("memory"),
        Ask("memory", role=Role.ADMIN),
        Ask("forgotten"),
        Ask("memory", query="purge=true", role=Role.ADMIN),
        Ask("forgotten", query="purge=true", role=Role.ADMIN),
    ),
    ("GET", "/engine/memories/{id}/revisions/{number}"): (Ask("memory"), Ask("memory", role=Role.ADMIN)),
    ("GET", "/engine/memories/{id}/diff"): (
        Ask("memory", query="from=1&to=2"),
        Ask("forgotten", query="from=1&to=2"),
        Ask("memory", query="from=1", role=Role.ADMIN),
    ),
    **{
        ("POST", f"/engine/memories/{{id}}/{decision}"): (
            Ask("memory", role=Role.ADMIN),
            Ask("forgotten", role=Role.ADMIN),
            Ask("memory", role=Role.REVIEWER, headers={"If-Match": '"2"'}),
        )
        for decision in ("promote", "reject", "undo-promote")
    },
    ("GET", "/engine/admin/memories"): (Ask(role=Role.ADMIN),),
    ("POST", "/engine/memories/{id}/restore"): (
        Ask("forgotten"),
        Ask("forgotten", role=Role.ADMIN),
        Ask("memory", body={"revision": 1}),
        Ask("memory", body={"revision": 1}, headers={"If-Match": '"2"'}, role=Role.ADMIN),
    ),
    ("GET", "/engine/recalls/{recall_id}"): (Ask("recall"),),
    ("POST", "/engine/session/{session_id}/messages"): (
        Ask("session", body={"messages": [{"id": "m9", "role": "user", "text": "I was here"}]}, begins=True),
        Ask("session", body={"messages": []}, begins=True),
        Ask("session", body={"messages": [], "extract": "off"}, role=Role.ADMIN, begins=True),
    ),
    ("GET", "/engine/session/{session_id}/messages"): (
        Ask("session"),
        Ask("session", query="latest=5", role=Role.ADMIN),
    ),
    ("GET", "/engine/session/{session_id}/genome"): (Ask("session"), Ask("session", role=Role.ADMIN)),
    ("POST", "/engine/session/{session_id}/context"): (
        Ask("session", body={"query": "what is the pin?", "totalBudget": 2000}),
        Ask("session", body={"query": "what is the pin?", "totalBudget": 2000}, role=Role.ADMIN),
    ),
    ("POST", "/engine/session/{session_id}/end"): (Ask("session"), Ask("session", role=Role.ADMIN)),
    ("DELETE", "/engine/session/{session_id}"): (Ask("session"), Ask("session", role=Role.ADMIN)),
    ("GET", "/engine/keys"): (Ask(role=Role.ADMIN),),
    ("POST", "/engine/keys"): (Ask(body={"name": "k", "userId": "u", "roles": ["member"]}, role=Role.ADMIN),),
    ("DELETE", "/engine/keys/{id}"): (Ask("key", role=Role.ADMIN),),
    ("GET", "/engine/audit"): (Ask(role=Role.ADMIN),),
    ("GET", "/engine/plugins"): (Ask(role=Role.ADMIN),),
    ("GET", "/engine/users/{user_id}/genome"): (Ask("user"), Ask("user", role=Role.ADMIN)),
    ("GET", "/engine/users/{user_id}/export"): (Ask("user", own=True), Ask("user", role=Role.ADMIN, own=True)),
    ("DELETE", "/engine/users/{user_id}"): (Ask("user", own=True), Ask("user", role=Role.ADMIN, own=True)),
    ("GET", "/engine/users/{user_id}/erasure"): (Ask("user"), Ask("user", role=Role.ADMIN)),
    ("GET", "/engine/soul"): (Ask(),),
    ("PUT", "/engine/soul"): (Ask(body={"name": "nobody may put this"}, role=Role.ADMIN),),
    ("PUT", "/engine/plugins"): (Ask(body={"plugins": {"memory_versioning": False}}, role=Role.ADMIN),),
}
OPEN: frozenset[Route] = frozenset({("GET", "/health"), ("GET", "/openapi.json")})
"""Routes that answer without a credential."""

WITH_ID = [(*route, ask) for route, asks in ROUTES.items() for ask in asks if ask.names]


def path_of(pattern: str, id_: str) -> str:
    """The path of a route with an id in its place; a revision is the first."""
    for name in ("{id}", "{recall_id}", "{session_id}", "{user_id}"):
        pattern = pattern.replace(name, id_)
    return pattern.replace("{number}", "1")
