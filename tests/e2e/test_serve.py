"""`scripts/serve` as a newcomer uses it: the README's lines work, what crashes comes back, a second start finds all."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.e2e.pages import before_questions, differences, followed, shape

ROOT = Path(__file__).parents[2]
READY_SECONDS = 60
pytestmark = pytest.mark.timeout(180)


class Serve:
    """One `scripts/serve` over its own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "output"
        self._popen: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it says that it serves."""
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("VITTO_")},
            "VITTO_HOME": str(self.folder / ".vitto"),
            "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}",
        }
        with self.output.open("wb") as output:
            command = [sys.executable, "-m", "vitto_tools.local.serve"]
            self._popen = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=output, stderr=output)
        until((self.folder / ".vitto" / "serve.json").exists, self.output.read_text)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it and wait for that."""
        if self._popen and self._popen.poll() is None:
            self._popen.send_signal(how)
            self._popen.wait(30)

    @property
    def said(self) -> dict[str, Any]:
        """What `serve.json` says."""
        said: dict[str, Any] = json.loads((self.folder / ".vitto" / "serve.json").read_text())
        return said

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        """One request under the development key."""
        headers = {"Authorization": f"Bearer {self.said['apiKey']}"} | headers
        return requests.request(method, self.said["url"] + path, json=body, headers=headers, timeout=30)


def until(wanted: Callable[[], bool], explain: Callable[[], str] = str, seconds: float = READY_SECONDS) -> None:
    """Wait for something to hold."""
    end = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < end, explain()
        time.sleep(0.1)


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """A running one."""
    running = Serve(tmp_path_factory.mktemp("serve"))
    try:
        running.start()
        yield running
    finally:
        running.stop()


def recalled(serve: Serve, query: str) -> tuple[dict[str, Any], list[str]]:
    """An answer, and the contents of its hits."""
    reply = serve.call("POST", "/engine/memories/recall", {"query": query})
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer, [hit["memory"]["content"] for hit in answer["hits"]]


def test_the_lines_of_the_readme_work_as_printed(serve: Serve) -> None:
    steps = followed(ROOT / "README.md", serve.folder)
    assert len(steps) >= 4
    for step in steps:
        said, printed = before_questions(shape(step.said)), before_questions(shape(step.printed))
        # a memory is embedded with its day, so that how near it is to a question differs a little from day to day
        assert [*differences(printed, said), *differences(said, printed)] == [], step.shell


def test_the_walk_along_the_write_path_works_as_printed(serve: Serve) -> None:
    steps = followed(ROOT / "docs" / "write-path.md", serve.folder)
    assert len(steps) >= 12
    for step in steps:
        assert differences(shape(step.printed), shape(step.said)) == [], step.shell


def test_a_page_that_prints_what_does_not_come_is_found_out() -> None:
    came = {"a": [{"score": 0.31, "more": 1}], "b": "x"}
    assert differences({"a": [{"score": 0.28}]}, came) == []
    others: list[Any] = [{"a": [{"score": 0.7}]}, {"a": []}, {"b": "y"}, {"c": 1}, {"a": {}}, {"a": [{"more": 2}]}]
    for printed in others:
        assert len(differences(printed, came)) == 1


def test_only_what_questions_add_may_come_later() -> None:
    early = {"score": 0.71, "scores": {"similarity": 0.48}, "why": "similar in meaning (0.48); shares “ana”"}
    why = "similar in meaning (0.75); nearer still is a question that it answers (0.91); shares “ana”"
    late = {"score": 0.88, "scores": {"similarity": 0.75}, "why": why}
    assert before_questions(early) == before_questions(late)
    assert before_questions(early) != before_questions(late | {"why": "shares “ana”"})


def test_its_file_is_readable_by_its_owner_alone(serve: Serve) -> None:
    assert (serve.folder / ".vitto" / "serve.json").stat().st_mode & 0o777 == 0o600
    assert set(serve.said) == {"url", "apiKey", "mongoUri", "redisUrl", "embeddingUrl", "processes"}
    assert set(serve.said["processes"]) == {"supervisor", "mongo", "redis", "embedding", "worker", "api"}


def test_a_page_elsewhere_cannot_call_it(serve: Serve) -> None:
    assert serve.call("GET", "/health", Host="evil.example").status_code == 403
    assert serve.call("GET", "/health", Origin="https://evil.example").status_code == 403


def test_a_second_start_says_that_it_runs_already(serve: Serve) -> None:
    environment = {**os.environ, "VITTO_HOME": str(serve.folder / ".vitto"), "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}"}
    command = [sys.executable, "-m", "vitto_tools.local.serve"]
    done = subprocess.run(command, cwd=serve.folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "already running" in done.stderr


def test_the_worker_stores_the_audit_of_recalls(serve: Serve) -> None:
    answer, _ = recalled(serve, "What does the audit say?")
    until(lambda: serve.call("GET", f"/engine/recalls/{answer['recallId']}").status_code == 200)


def test_a_crash_restarts_what_crashed_and_recall_goes_on_meanwhile(serve: Serve) -> None:
    serve.call("POST", "/engine/memories", {"content": "Ana plays the cello on Sundays"})
    old = serve.said["processes"]["redis"]
    os.kill(old, signal.SIGKILL)
    answer, contents = recalled(serve, "Which instrument does Ana play?")
    assert "Ana plays the cello on Sundays" in contents
    if serve.said["processes"]["redis"] == old:
        assert answer["degraded"]
    until(lambda: serve.said["processes"]["redis"] != old)
    until(lambda: not recalled(serve, "Which instrument does Ana play?")[0]["degraded"])


def test_without_mongodb_it_says_so_and_recovers(serve: Serve) -> None:
    old = serve.said["processes"]["mongo"]
    os.kill(old, signal.SIGKILL)
    reply = serve.call("POST", "/engine/memories", {"content": f"Something new {time.time()}"})
    assert reply.status_code == 503
    assert reply.json()["error"]["details"]["store"] == "mongo"
    until(lambda: serve.said["processes"]["mongo"] != old)
    until(
        lambda: serve.call("POST", "/engine/memories", {"content": f"Something new {time.time()}"}).status_code == 200
    )


def test_a_second_start_finds_everything_again(serve: Serve) -> None:
    serve.call("POST", "/engine/memories", {"content": "The harbour festival is in June"})
    key = serve.said["apiKey"]
    serve.stop()
    serve.start()
    assert serve.said["apiKey"] == key
    assert "The harbour festival is in June" in recalled(serve, "When is the festival at the harbour?")[1]
