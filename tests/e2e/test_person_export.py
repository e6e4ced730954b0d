"""What a person gets of what is kept of them: all of it, nothing of others, and enough to be at home elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from chalicelib.export.positions import encoded
from tests.e2e.client import Api, User
from vitto_tools.cli import importing, personal
from vitto_tools.cli.__main__ import app

SAID = (
    "Ana lives in Porto",
    "Ana works at the harbour office",
    "the garden needs water on Tuesdays",
    "my sister Rosa plays the cello",
    "the release of the billing service is on the fourth of May",
)
ASKED = ("where does Ana live?", "who plays the cello?", "when is the release of billing?", "what needs water?")


class Target:
    """The API as the commands call it. It ends the command after so many calls, as a kill would."""

    identity = "test"

    def __init__(self, user: User, calls: int = 1000) -> None:
        self._user = user
        self._left = calls

    def call(self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any) -> Any:
        """The answer."""
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        query = "&".join(f"{name}={value}" for name, value in options.get("params", {}).items())
        reply = self._user.send(method, path, options.get("json"), query=query, headers=headers)
        assert reply.status == 200, reply.body
        return reply.json


def run(monkeypatch: pytest.MonkeyPatch, target: Target, *arguments: str) -> str:
    """What a command prints."""
    for module in (personal, importing):
        monkeypatch.setattr(module, "api", lambda: target)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in {0, 130}, (result.output, result.exception)
    return result.output


def test_an_export_that_was_killed_goes_on_and_imported_elsewhere_gives_the_same_recalls(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.export.person.PAGE_BYTES", 1500)
    monkeypatch.setattr(importing, "HOME", tmp_path)
    ana = api.user("ana", spaces=("red",))
    bob = api.user("bob", spaces=("red",))
    bob.remember("bob's own secret is 77")
    for text in SAID:
        ana.remember(text)
    ana.forget(ana.remember("this one was forgotten"))
    ana.remember("the red team meets at noon", scope="space", scopeId="red")
    sent = [{"id": "m1", "role": "user", "text": "hello from ana"}]
    assert ana.post("/engine/session/s1/messages", {"messages": sent, "spaceId": "red"}).status == 200
    bobs = [{"id": "m2", "role": "user", "text": "bob's word"}]
    assert bob.post("/engine/session/s1/messages", {"messages": bobs}).status == 200

    out = tmp_path / "ana.jsonl"
    run(monkeypatch, Target(ana, 3), "export-user", "ana", "--out", str(out))
    assert not out.exists()
    said = run(monkeypatch, Target(ana), "export-user", "ana", "--out", str(out))
    assert "going on behind" in said
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    kinds = [line["type"] for line in lines]
    counted = {kind: kinds.count(kind) for kind in ("memory", "shared_memory", "session", "message", "key")}
    assert counted == {"memory": 6, "shared_memory": 1, "session": 1, "message": 1, "key": 1}
    ids = [line["memory"]["id"] for line in lines if line["type"] == "memory"]
    assert len(set(ids)) == 6
    assert "bob's" not in out.read_text(encoding="utf-8")
    assert oct(out.stat().st_mode)[-3:] == "600"

    elsewhere = api.user("ana", Role.ADMIN, org=new_id("org"))
    imported = run(monkeypatch, Target(elsewhere), "import", str(out), "--from", "person", "--trusted")
    assert "5 stored" in imported, imported
    assert "skipped: archived memory" in imported
    for user in (ana, elsewhere):
        api.index(user)
    mine = {query: ana.recalled(query, scopes=["user"]) for query in ASKED}
    assert {query: elsewhere.recalled(query) for query in ASKED} == mine
    assert all(mine.values()), mine


def test_an_export_is_for_the_person_and_admins_whose_look_is_in_the_audit(api: Api) -> None:
    ana, root = api.user("ana"), api.user("root", Role.ADMIN)
    ana.remember("Ana lives in Porto")
    assert api.user("bob").get("/engine/users/ana/export").refusal == (404, "not_found")
    assert root.get("/engine/users/nobody/export").refusal == (404, "not_found")
    page = root.get("/engine/users/ana/export").json
    assert [line["memory"]["content"] for line in page["lines"] if line["type"] == "memory"] == ["Ana lives in Porto"]
    events = [(e["action"], e["target"]) for e in root.get("/engine/audit").json["events"]]
    assert events.count(("export_user", "ana")) == 1
    for cursor in ("x", "WzAsIDFd", "Wzk5LCBudWxsXQ==", "e30=", encoded(0, "x"), encoded(0, "7:")):
        refused = ana.get("/engine/users/ana/export", f"cursor={cursor}")
        assert (refused.status, refused.field) == (422, "cursor")
