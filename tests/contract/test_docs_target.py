"""`ports.DocsTarget`: files by organization and path, put and removed, a repeat without duplicates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chalicelib.adapters.docs_folder import NOTES, DocsFolder
from chalicelib.adapters.docs_service import ATTEMPTS, DocsService
from chalicelib.adapters.memory.docs import InMemoryDocsTarget
from chalicelib.domain.budget import budget
from chalicelib.domain.docs import DocsFile
from chalicelib.errors import Conflict, Misconfigured, StoreUnavailable
from chalicelib.ports import DocsTarget
from chalicelib.settings import DocsSettings
from tests.docs_service import TOKEN, DocsServiceStub, docs_service
from tests.embedding_server import Reply


@dataclass(frozen=True)
class Target:
    """A target, and what it holds of acme."""

    target: DocsTarget
    held: Callable[[], dict[str, str]]


@pytest.fixture(scope="module")
def running() -> Iterator[DocsServiceStub]:
    with docs_service() as told:
        yield told


@pytest.fixture
def stub(running: DocsServiceStub) -> DocsServiceStub:
    """The service with nothing in it and on a good day."""
    fresh = DocsServiceStub(url=running.url)
    vars(running).update({name: value for name, value in vars(fresh).items() if name != "lock"})
    return running


@pytest.fixture
def pauses() -> list[float]:
    """How long the client waited."""
    return []


@pytest.fixture
def service(stub: DocsServiceStub, pauses: list[float]) -> DocsService:
    """The client of a service, which waits for nothing."""
    return DocsService(DocsSettings(url=stub.url, token=TOKEN, project="{organization} docs"), pauses.append)


def in_folder(folder: Path) -> dict[str, str]:
    """The files of a folder that an export wrote."""
    files = [path for path in folder.rglob("*") if path.is_file() and NOTES not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


@pytest.fixture(params=["twin", "folder", "service"])
def under_test(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    if request.param == "twin":
        twin = InMemoryDocsTarget()
        return Target(twin, lambda: {path: file.content for path, file in twin.files["acme"].items()})
    if request.param == "folder":
        return Target(DocsFolder(tmp_path), lambda: in_folder(tmp_path))
    stub: DocsServiceStub = request.getfixturevalue("stub")
    return Target(request.getfixturevalue("service"), lambda: stub.projects["acme docs"])


def file(path: str, content: str = "# Hello\n") -> DocsFile:
    """A file."""
    return DocsFile(path=path, content=content)


def test_a_place_is_made_once(under_test: Target) -> None:
    target = under_test.target
    assert not target.exists("acme")
    target.create("acme")
    assert target.exists("acme")
    target.sync("acme", [file("organization/facts.md")], [])
    target.create("acme")
    assert under_test.held() == {"organization/facts.md": "# Hello\n"}
    assert target.destination("acme")


def test_files_are_put_at_their_paths_and_a_repeat_changes_nothing(under_test: Target) -> None:
    under_test.target.create("acme")
    files = [file("organization/facts.md", "a"), file("users/ana~1/facts.md", "Grüße 你好 \u2028 ```\r\n")]
    for _ in range(2):
        assert under_test.target.sync("acme", files, []) == {}
        assert under_test.held().keys() == {each.path for each in files}
    under_test.target.sync("acme", [file("organization/facts.md", "b")], [])
    assert under_test.held()["organization/facts.md"] == "b"


def test_what_is_removed_is_gone_and_nothing_else(under_test: Target) -> None:
    under_test.target.create("acme")
    under_test.target.sync("acme", [file(f"spaces/{name}/facts.md") for name in ("a", "b")], [])
    for _ in range(2):
        assert under_test.target.sync("acme", [], ["spaces/a/facts.md", "spaces/never/facts.md"]) == {}
        assert under_test.held().keys() == {"spaces/b/facts.md"}


def test_another_organization_has_a_place_of_its_own(service: DocsService, stub: DocsServiceStub) -> None:
    for org in ("acme", "rival"):
        service.create(org)
        service.sync(org, [file("organization/facts.md", org)], [])
    assert stub.projects["acme docs"] == {"organization/facts.md": "acme"}
    assert stub.projects["rival docs"] == {"organization/facts.md": "rival"}
    assert service.destination("acme") != service.destination("rival")


def test_a_service_that_fails_is_asked_again_with_the_same_key(service: DocsService, stub: DocsServiceStub) -> None:
    service.create("acme")
    stub.keys.clear()
    stub.replies.extend([(Reply(503), {}), (Reply(429), {"Retry-After": "7"})])
    assert service.sync("acme", [file("a.md")], []) == {}
    assert len(stub.keys) == 3
    assert len(set(stub.keys)) == 1
    assert len(stub.keys[0]) == 64


def test_waits_grow_and_are_at_least_what_the_service_asks_for(
    service: DocsService, stub: DocsServiceStub, pauses: list[float]
) -> None:
    stub.replies.extend([(Reply(503), {}), (Reply(429), {"Retry-After": "7"}), (Reply(500), {})])
    service.create("acme")
    assert pauses == [0.5, 7.0, 2.0]


def test_a_service_that_stays_away_is_given_up_with_what_it_said(
    service: DocsService, stub: DocsServiceStub, pauses: list[float]
) -> None:
    stub.replies.extend([(Reply(503), {})] * 20)
    with pytest.raises(StoreUnavailable, match="docs is unavailable: HTTP 503"):
        service.exists("acme")
    assert len(stub.requests) == ATTEMPTS == len(pauses) + 1


def test_nobody_waits_longer_than_the_request_has(
    service: DocsService, stub: DocsServiceStub, pauses: list[float]
) -> None:
    stub.replies.extend([(Reply(429), {"Retry-After": "20"})] * 3)
    with budget(10), pytest.raises(StoreUnavailable, match="HTTP 429"):
        service.exists("acme")
    assert pauses == []


@pytest.mark.parametrize("status", [401, 403, 301])
def test_a_refusal_is_not_asked_again(service: DocsService, stub: DocsServiceStub, status: int) -> None:
    stub.replies.append((Reply(status), {}))
    with pytest.raises(StoreUnavailable, match=f"refuses: HTTP {status}"):
        service.exists("acme")
    assert len(stub.requests) == 1


@pytest.mark.parametrize("body", [b"[]", b"<html>", b'{"refused": 7}', b'{"refused": ["a"]}'])
def test_an_answer_that_is_none_is_said(service: DocsService, stub: DocsServiceStub, body: bytes) -> None:
    service.create("acme")
    stub.replies.append((Reply(200, body), {}))
    with pytest.raises(StoreUnavailable, match="its answer"):
        service.sync("acme", [file("a.md")], [])


def test_a_file_that_is_unfit_alone_is_refused_and_the_others_arrive(
    service: DocsService, stub: DocsServiceStub
) -> None:
    service.create("acme")
    stub.most_bytes = 2000
    files = [file(f"{n}.md", "x" * 300) for n in range(20)] + [file("long.md", "y" * 3000)]
    assert service.sync("acme", files, []) == {"long.md": "HTTP 413"}
    assert len(stub.projects["acme docs"]) == 20


def test_what_the_service_does_not_take_is_named_with_its_reason(service: DocsService, stub: DocsServiceStub) -> None:
    service.create("acme")
    stub.refuses = lambda path: "no such words here" if path == "b.md" else None
    assert service.sync("acme", [file("a.md"), file("b.md")], []) == {"b.md": "no such words here"}


def test_requests_are_bounded_in_files_and_in_bytes(service: DocsService, stub: DocsServiceStub) -> None:
    service.create("acme")
    service.sync("acme", [file(f"small/{n}.md") for n in range(120)], [f"gone/{n}.md" for n in range(600)])
    service.sync("acme", [file(f"large/{n}.md", "x" * 400_000) for n in range(5)], [])
    bulks = [(len(body["files"]), len(body.get("deletions", ()))) for body in stub.bulks()]
    assert bulks == [(50, 0), (50, 0), (20, 0), (0, 500), (0, 100), (2, 0), (2, 0), (1, 0)]


@pytest.mark.parametrize("url", ["docs.example.com", "ftp://docs.example.com", "https://", "https://a:b@docs/x"])
def test_an_address_that_is_none_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(Misconfigured, match="VITTO_DOCS_URL"):
        DocsService(DocsSettings(url=url))


def test_a_folder_that_holds_a_tree_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "spaces").mkdir()
    with pytest.raises(Conflict, match="spaces, which no export wrote"):
        DocsFolder(tmp_path).create("acme")


def test_nothing_is_written_or_removed_through_a_link(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "docs"
    outside.mkdir()
    (outside / "facts.md").write_text("mine")
    target = DocsFolder(folder)
    target.create("acme")
    (folder / "spaces").mkdir()
    (folder / "spaces" / "a").symlink_to(outside)
    refused = target.sync("acme", [file("spaces/a/facts.md")], ["../outside/facts.md"])
    assert refused.keys() == {"spaces/a/facts.md", "../outside/facts.md"}
    assert (outside / "facts.md").read_text() == "mine"
