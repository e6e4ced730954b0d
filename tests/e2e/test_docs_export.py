"""The docs export through the front door: for admins, of their own organization, to the target of the settings alone."""

from collections.abc import Iterator

import pytest

from chalicelib.adapters.docs_service import DocsService
from chalicelib.domain.caller import Role
from chalicelib.settings import DocsSettings, RecallSettings, Settings
from tests.docs_service import TOKEN, DocsServiceStub, docs_service
from tests.e2e.client import Api
from tests.e2e.conftest import Serve

PATH = "/engine/memories/export-to-docs"


@pytest.fixture
def stub() -> Iterator[DocsServiceStub]:
    """A docs service that fails every third request."""
    with docs_service() as told:
        told.fails_each = 3
        yield told


@pytest.fixture
def exporting(serve: Serve, stub: DocsServiceStub) -> Api:
    """The application with that service in its settings."""
    docs = DocsSettings(url=stub.url, token=TOKEN, project="memory of {organization}")
    target = DocsService(docs, lambda _: None)
    return serve(Settings(recall=RecallSettings(seconds=28), docs=docs), docs_target=target)


def test_an_admin_exports_its_organization_and_is_told_file_by_file(exporting: Api, stub: DocsServiceStub) -> None:
    ana = exporting.user("ana", Role.ADMIN, spaces=("ops",))
    ana.remember("We deploy on Fridays at noon", scope="space", scopeId="ops", type="decision")
    ana.remember("Ana is allergic to nuts")
    other = exporting.user("eve", Role.ADMIN, org=f"{exporting.org}x", spaces=("ops",))
    other.remember("The rival deploys on Mondays", scope="space", scopeId="ops")
    reply = ana.post(PATH, {})
    assert reply.status == 200, reply.body
    told = reply.json
    assert (told["state"], told["memories"], told["files"], told["failed"]) == ("finished", 1, 2, 0)
    here = stub.projects[f"memory of {exporting.org}"]
    assert here.keys() == {"spaces/ops/decisions.md", "spaces/ops/index.md"}
    (scope,) = told["scopeReports"]
    assert {file["path"] for file in scope["files"]} == here.keys()
    assert (scope["scope"], scope["scopeId"], scope["memories"]) == ("space", "ops", 1)
    assert stub.projects.keys() == {f"memory of {exporting.org}"}
    assert ana.post(PATH, {"users": True}).json["memories"] == 2
    assert "allergic" in stub.projects[f"memory of {exporting.org}"]["users/ana/facts.md"]
    assert other.get(PATH).json["state"] == "idle"
    assert other.get(PATH).json["scopeReports"] == []


def test_the_report_is_paged_and_takes_no_other_cursor(exporting: Api) -> None:
    ana = exporting.user("ana", Role.ADMIN, spaces=("a b", "ops", "z"))
    for name in ("a b", "ops", "z"):
        ana.remember(f"The space {name} meets on Mondays", scope="space", scopeId=name)
    ana.post(PATH, {})
    seen, query = [], "limit=2"
    while True:
        page = ana.get(PATH, query).json
        seen += [scope["scopeId"] for scope in page["scopeReports"]]
        if page["cursor"] is None:
            break
        query = f"limit=2&cursor={page['cursor'].replace('%', '%25')}"
    assert seen == ["a b", "ops", "z"]
    assert ana.get(PATH, "cursor=../rival/space/x").field == "cursor"


def test_members_and_reviewers_may_not(exporting: Api, stub: DocsServiceStub) -> None:
    for role in (Role.MEMBER, Role.REVIEWER, Role.OBSERVER):
        user = exporting.user("ben", role)
        assert user.post(PATH, {}).refusal == (403, "forbidden")
        assert user.get(PATH).refusal == (403, "forbidden")
    assert stub.requests == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "http://evil"}, "url"),
        ({"scope": "team"}, "scope"),
        ({"scopeId": "x"}, "scopeId"),
        ({"users": 1}, "users"),
    ],
)
def test_what_is_wrong_is_named_and_no_target_is_taken_from_a_request(
    exporting: Api, body: dict[str, object], field: str
) -> None:
    assert exporting.user("ana", Role.ADMIN).post(PATH, body).field == field


def test_a_scope_of_another_organization_is_a_404(exporting: Api) -> None:
    ana = exporting.user("ana", Role.ADMIN)
    exporting.user("eve", org=f"{exporting.org}x", spaces=("theirs",)).remember(
        "secret plans of the rival", scope="space", scopeId="theirs"
    )
    assert ana.post(PATH, {"scope": "space", "scopeId": "theirs"}).refusal == (404, "not_found")


def test_without_a_target_the_answer_names_the_setting(api: Api) -> None:
    reply = api.user("ana", Role.ADMIN).post(PATH, {})
    assert reply.refusal == (409, "conflict")
    assert "VITTO_DOCS_URL" in reply.error["message"]
