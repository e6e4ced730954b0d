"""A docs service as the target of a docs export, over HTTP; docs/export.md has the protocol."""

import functools
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from chalicelib.domain.budget import time_left
from chalicelib.domain.docs import DocsFile
from chalicelib.errors import Misconfigured, StoreUnavailable
from chalicelib.settings import DocsSettings

if TYPE_CHECKING:
    import httpx2

STORE = "docs"
MOST_FILES = 50
MOST_BYTES = 1 << 20  # of content in one request
MOST_DELETIONS = 500
ATTEMPTS = 6
FIRST_PAUSE = 0.5  # doubled each time
LONGEST_PAUSE = 60.0
_MISSING, _CONFLICT = 404, 409
_OK = range(200, 300)
_LATER = frozenset({408, 425, 429, *range(500, 600)})
_UNFIT = frozenset({400, 413, 422})
"""What is said of a body and not of who sends it: a part of it may still be taken."""

_Piece = tuple[DocsFile | None, str]


class DocsService:
    """`ports.DocsTarget`. `pause` waits that many seconds."""

    def __init__(self, settings: DocsSettings, pause: Callable[[float], None] = time.sleep) -> None:
        address = urlsplit(settings.url)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise Misconfigured("VITTO_DOCS_URL is no http or https address")
        if address.username or address.password or address.query or address.fragment:
            raise Misconfigured("VITTO_DOCS_URL holds more than an address; the token goes into VITTO_DOCS_TOKEN")
        self._settings = settings
        self._url = settings.url.rstrip("/")
        self._pause = pause
        self._known: set[str] = set()

    def destination(self, org_id: str) -> str:
        return f"{self._url} {self._project(org_id)}"

    def exists(self, org_id: str) -> bool:
        project = self._project(org_id)
        if project not in self._known:
            found = self._answer("GET", f"/projects?name={quote(project, safe='')}").get("projects", [])
            if isinstance(found, list) and project in [one.get("name") for one in found if isinstance(one, dict)]:
                self._known.add(project)
        return project in self._known

    def create(self, org_id: str) -> None:
        status, _ = self._asked("POST", "/projects", {"name": self._project(org_id)})
        if status not in {*_OK, _CONFLICT}:
            raise StoreUnavailable(STORE, f"it makes no project: HTTP {status}")

    def sync(self, org_id: str, files: Sequence[DocsFile], deletions: Sequence[str]) -> Mapping[str, str]:
        refused: dict[str, str] = {}
        for part in _parts(files, deletions):
            refused |= self._sync(org_id, part)
        return refused

    def _sync(self, org_id: str, part: Sequence[_Piece]) -> dict[str, str]:
        """Send a part; where the service finds it unfit, its halves, so that only what is unfit itself is refused."""
        project = self._project(org_id)
        body: dict[str, Any] = {"project": project, "files": [_on_wire(file) for file, _ in part if file]}
        if gone := [path for file, path in part if file is None]:
            body["deletions"] = gone
        status, answer = self._asked("POST", "/sync/bulk", body)
        if status in _UNFIT:
            if len(part) == 1:
                return {part[0][1]: f"HTTP {status}"}
            half = len(part) // 2
            return self._sync(org_id, part[:half]) | self._sync(org_id, part[half:])
        if status == _MISSING:
            self._known.discard(project)
        if status not in _OK:
            raise StoreUnavailable(STORE, f"it refuses: HTTP {status}")
        return _refused(answer, {path for _, path in part})

    def _project(self, org_id: str) -> str:
        return self._settings.project.replace("{organization}", org_id)

    def _answer(self, method: str, path: str) -> dict[str, Any]:
        status, answer = self._asked(method, path)
        if status not in _OK:
            raise StoreUnavailable(STORE, f"it refuses: HTTP {status}")
        return answer

    def _asked(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """Status and JSON object, asked again while the service says to come later. StoreUnavailable where it goes on so."""
        sent = b"" if body is None else json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
        for attempt in range(ATTEMPTS):
            wait = FIRST_PAUSE * 2**attempt
            try:
                reply = self._reply(method, path, sent)
            except StoreUnavailable as error:
                trouble = error
            else:
                if reply.status_code not in _LATER:
                    return reply.status_code, _object(reply)
                trouble = StoreUnavailable(STORE, f"HTTP {reply.status_code}")
                wait = max(wait, _retry_after(reply))
            if attempt == ATTEMPTS - 1 or wait > min(LONGEST_PAUSE, time_left() / 2):
                raise trouble
            self._pause(wait)
        raise AssertionError("unreachable")

    def _reply(self, method: str, path: str, sent: bytes) -> "httpx2.Response":
        headers = {"Content-Type": "application/json"} if sent else {}
        if sent:
            headers["Idempotency-Key"] = hashlib.sha256(path.encode() + b"\n" + sent).hexdigest()
        seconds = min(self._settings.seconds, time_left())
        if seconds <= 0:
            raise StoreUnavailable(STORE, "there is no time left to ask it")
        with _one_error():
            return self._client.request(method, self._url + path, content=sent, headers=headers, timeout=seconds)

    @functools.cached_property
    def _client(self) -> "httpx2.Client":
        import httpx2  # noqa: PLC0415 - a tenth of a second of a start that only an export needs

        token = self._settings.token
        return httpx2.Client(headers={"Authorization": f"Bearer {token}"} if token else {})


@contextmanager
def _one_error() -> Iterator[None]:
    import httpx2  # noqa: PLC0415 - as above

    try:
        yield
    except httpx2.HTTPError as error:
        raise StoreUnavailable(STORE, type(error).__name__) from error


def _on_wire(file: DocsFile) -> dict[str, str]:
    return {"path": file.path, "content": file.content, "sha256": file.sha256}


def _parts(files: Sequence[DocsFile], deletions: Sequence[str]) -> Iterator[list[_Piece]]:
    """Files and deletions in requests of a bounded size."""
    part: list[_Piece] = []
    size = 0
    for file in files:
        if part and (len(part) == MOST_FILES or size + len(file.data) > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append((file, file.path))
        size += len(file.data)
    if part:
        yield part
    for start in range(0, len(deletions), MOST_DELETIONS):
        yield [(None, path) for path in deletions[start : start + MOST_DELETIONS]]


def _refused(answer: Mapping[str, Any], sent: set[str]) -> dict[str, str]:
    """What the service says that it did not take, of what was sent."""
    said = answer.get("refused", [])
    try:
        found = {str(one["path"]): str(one.get("reason", "no reason given"))[:200] for one in said}
    except (TypeError, KeyError, AttributeError):
        raise StoreUnavailable(STORE, "its answer cannot be read") from None
    return {path: reason for path, reason in found.items() if path in sent}


def _object(reply: "httpx2.Response") -> dict[str, Any]:
    """The JSON object of an answer; an empty one where there is none, which an error need not have."""
    try:
        value = reply.json()
    except ValueError:
        value = None
    if not isinstance(value, dict):
        if reply.status_code in _OK and reply.content.strip():
            raise StoreUnavailable(STORE, "its answer is no JSON object")
        return {}
    return value


def _retry_after(reply: "httpx2.Response") -> float:
    """The seconds that the service asks for; a date there is not waited for."""
    said = reply.headers.get("Retry-After", "")
    return float(said) if said.isdecimal() and len(said) < len(str(int(LONGEST_PAUSE))) + 3 else 0.0
