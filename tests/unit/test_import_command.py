"""`vitto import` over HTTP: of every shape, killed in the middle and run again, nothing twice and nothing unsaid."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from typer.testing import CliRunner

from app import wsgi
from chalicelib import bootstrap
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.scope import Chain, Scope, ScopeRef
from chalicelib.entrypoints.auth.api_keys import mint
from chalicelib.ports import Browse
from tests.building import TestClock, container
from vitto_tools.cli import importing as command
from vitto_tools.cli.__main__ import app
from vitto_tools.importing import run as runs

ROOT = Path(__file__).parents[2]


class Server(ThreadingMixIn, WSGIServer):
    """Answers several at once."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """Says nothing of requests."""

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the base class names it
        pass


class Gate:
    """The application, which calls `before` with the number of each request."""

    def __init__(self) -> None:
        self.served = wsgi()
        self.asked = 0
        self.before: Callable[[int], bool] = lambda _: True

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        self.asked += 1
        sent = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))  # wsgiref's stream has no end
        environ["wsgi.input"] = io.BytesIO(sent)
        if not self.before(self.asked):
            start("503 Service Unavailable", [("Content-Type", "application/json")])
            return [b"{}"]
        return self.served(environ, start)


@pytest.fixture
def services() -> Iterator[Container]:
    """The product over its twins."""
    before, made = bootstrap._container, container(clock=TestClock(bootstrap.system_clock()))
    bootstrap.use(made)
    yield made
    bootstrap.use(before)


@pytest.fixture
def gate(services: Container, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Gate]:
    """The product on loopback, and a key in the environment of the command."""
    made = Gate()
    server = make_server("127.0.0.1", 0, made, Server, Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    monkeypatch.setenv("VITTO_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("VITTO_API_KEY", key(services))
    monkeypatch.setenv("VITTO_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(command, "HOME", tmp_path / "home")
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def key(services: Container, user: str = "ana", *, act_as: bool = False) -> str:
    """A fresh API key."""
    now = services.ports.clock()
    roles = (Role.MEMBER,)
    stored, shown = mint(org_id="acme", name="k", user_id=user, roles=roles, now=now, created_by="root", act_as=act_as)
    services.ports.keys.add(stored)
    return shown


TIME = "2024-05-02T10:00:00Z"
TEXTS = [f"Person{n} moved to city{n} in May and works at company{n}" for n in range(25)]
FILES: dict[str, Any] = {
    "memories": [{"content": text, "eventTime": TIME} for text in TEXTS],
    "messages": [{"session": "s", "speaker": "Ben", "text": text, "time": TIME} for text in TEXTS],
    "mem0": {"results": [{"memory": text, "user_id": "ana", "created_at": TIME} for text in TEXTS]},
    "zep": {"edges": [{"fact": text, "uuid": f"e{n}", "created_at": TIME} for n, text in enumerate(TEXTS)]},
}


def written(tmp_path: Path, value: Any) -> Path:
    """A file of JSON, or of JSON lines where it is a list."""
    file = tmp_path / "file.json"
    text = "\n".join(map(json.dumps, value)) if isinstance(value, list) else json.dumps(value)
    file.write_text(text, encoding="utf-8")
    return file


def run(*arguments: object, code: int = 0) -> str:
    """What the command prints."""
    result = CliRunner().invoke(app, ["import", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


def stored(services: Container, user: str = "ana") -> list[str]:
    """The contents of a user's active and quarantined memories."""

    chain = Chain("acme", (ScopeRef("acme", Scope.USER, user),))
    page = services.ports.store.browse(chain, Browse(status=None, limit=500))
    return sorted(memory.content for memory in page.items)


@pytest.mark.parametrize("shape", list(FILES))
def test_a_run_that_was_cut_off_goes_on_and_stores_nothing_twice(
    gate: Gate, services: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    monkeypatch.setattr(runs, "BATCH", 10)
    file = written(tmp_path, FILES[shape])
    gate.before = lambda number: number != 2
    run(file, code=1)
    assert len(stored(services)) == 10
    report = tmp_path / "report.json"
    said = run(file, "--report", report)
    assert f"shape: {shape}" in said
    assert "going on at 11 of 25" in said
    assert stored(services) == sorted(TEXTS)
    told = json.loads(report.read_text())
    assert (told["shape"], told["done"], sum(told["outcomes"].values())) == (shape, 25, 25)
    assert "all 25 were imported by a run before" in run(file)
    assert "25 duplicate" in run(file, "--restart")


def test_a_process_that_is_killed_loses_and_doubles_nothing(
    gate: Gate, services: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = [{"memory": text, "user_id": f"u{n % 2}", "created_at": TIME} for n, text in enumerate(TEXTS)]
    file = written(tmp_path, {"results": results})
    arrived, dead = threading.Event(), threading.Event()

    def hold(number: int) -> bool:
        if number == 2:
            arrived.set()
            dead.wait(60)
        return True

    gate.before = hold
    monkeypatch.setenv("VITTO_API_KEY", key(services, "bot", act_as=True))
    command_line = [sys.executable, "-m", "vitto_tools.cli", "import", str(file), "--as-users"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'scripts'}"}
    process = subprocess.Popen(command_line, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL)
    assert arrived.wait(60)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    dead.set()
    assert "going on at 14 of 25" in run(file, "--as-users")
    assert [*stored(services, "u0"), *stored(services, "u1")] == sorted(TEXTS[::2]) + sorted(TEXTS[1::2])


def test_what_is_left_out_is_told_with_the_reason_and_in_the_report_in_full(
    gate: Gate, services: Container, tmp_path: Path
) -> None:
    gone = {"fact": "Ana lives in Lisbon", "created_at": TIME, "invalid_at": TIME, "weight": 3}
    kept = {"fact": "Ana lives in Porto", "created_at": TIME, "weight": 3}
    report = tmp_path / "report.json"
    said = run(written(tmp_path, {"edges": [gone, kept]}), "--report", report)
    assert "no longer true since 2024-05-02" in said
    assert "not kept: weight of 1" in said
    assert "1 skipped, 1 stored" in said
    (left,) = json.loads(report.read_text())["leftOut"]
    assert (left["where"], left["text"]) == ("document, edges.1", "Ana lives in Lisbon")
    assert stored(services) == ["Ana lives in Porto"]


def test_memories_of_several_users_do_not_land_in_one_scope(
    gate: Gate, services: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = [{"memory": f"{user} likes tea", "user_id": user, "created_at": TIME} for user in ("zoë", "ben", "zoë")]
    results[2]["memory"] = "zoë lives in Porto"
    file = written(tmp_path, {"results": results})
    result = CliRunner().invoke(app, ["import", str(file)])
    assert result.exit_code == 1
    assert gate.asked == 0
    run(file, "--user", "ben")
    assert stored(services) == ["ben likes tea"]
    monkeypatch.setenv("VITTO_API_KEY", key(services, "bot", act_as=True))
    run(file, "--as-users")
    assert stored(services, "zoë") == ["zoë likes tea", "zoë lives in Porto"]
    assert stored(services, "ben") == ["ben likes tea"]
    assert stored(services, "bot") == []


@pytest.mark.parametrize(
    ("text", "options"),
    [('{"a": 1}', ()), ('{"memory": "x"}', ("--zone", "Nowhere/At_all")), ('{"memory": "x"}', ("--time", "noon"))],
)
def test_what_cannot_be_read_ends_the_command_before_anything_is_sent(
    gate: Gate, tmp_path: Path, text: str, options: tuple[str, ...]
) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    run(file, *options, code=1)
    assert gate.asked == 0


def test_lines_that_are_broken_are_named_and_the_others_stored(gate: Gate, services: Container, tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    file.write_text('{"content": "Ana lives in Porto"}\nnot json\n{"content": "x", "typ": "fact"}\n')
    said = run(file, code=1)
    assert "line 2: invalid: not JSON" in said
    assert "line 3: invalid: " in said
    assert "typ" in said
    assert "2 invalid, 1 stored" in said
