"""The container's definition, run without a container engine: its packages, its files, its command and its health check."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.service import service_environment
from vitto_tools.local.servers import ROOT, free_port, http_answers

pytestmark = pytest.mark.timeout(300)
DOCKERFILE = ROOT / "infra" / "Dockerfile"
READY_SECONDS = 60


@dataclass(frozen=True)
class Instruction:
    """One instruction of the last stage, or of one before."""

    stage: int
    name: str
    text: str


def instructions() -> list[Instruction]:
    """The instructions of the Dockerfile, in order."""
    found: list[Instruction] = []
    stage = -1
    for line in DOCKERFILE.read_text().replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, text = line.partition(" ")
            stage += name == "FROM"
            found.append(Instruction(stage, name, text.strip()))
    return found


def final(name: str) -> list[str]:
    """What the image itself says under an instruction."""
    last = max(one.stage for one in instructions())
    return [one.text for one in instructions() if one.stage == last and one.name == name]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the image holds: the files that are copied, and a virtual environment of the pinned wheels."""
    folder = tmp_path_factory.mktemp("image")
    for text in final("COPY"):
        if not text.startswith("--from="):
            source, target = text.split()
            place = folder / target.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
            copy(ROOT / source, place)
    uv = str(ROOT / ".tools" / "bin" / "uv")
    venv = folder / "venv"
    subprocess.run((uv, "venv", "--quiet", "--python", sys.executable, str(venv)), check=True)
    pinned = ("--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(ROOT / "requirements-server.txt"))
    subprocess.run((uv, "pip", "install", "--quiet", "--python", str(venv / "bin" / "python"), *pinned), check=True)
    return folder


@pytest.fixture(scope="module")
def environment(image: Path, mongo_url: str, redis_url: str) -> Iterator[dict[str, str]]:
    """The image's variables and the settings, for real servers."""
    said = dict(pair.split("=", 1) for text in final("ENV") for pair in shlex.split(text))
    with service_environment(mongo_url, redis_url, "container") as settings:
        yield {**said, **settings, "PATH": f"{image / 'venv' / 'bin'}:{os.defpath}", "PORT": str(free_port())}


def started(command: list[str], image: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A process of the image."""
    folder = image / final("WORKDIR")[0].lstrip("/")
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Its exit code and output, once it was told to stop."""
    process.send_signal(getattr(signal, final("STOPSIGNAL")[0]))
    output, _ = process.communicate(timeout=40)
    return process.returncode, output


@pytest.fixture
def serving(image: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """The image's own command."""
    process = started(json.loads(final("CMD")[0]), image, environment)
    until = time.monotonic() + READY_SECONDS
    while not http_answers(f"http://127.0.0.1:{environment['PORT']}/health"):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.1)
    yield process
    if process.poll() is None:
        ended(process)


def health_check(image: Path, environment: dict[str, str]) -> int:
    """The exit code of the image's health check."""
    command = json.loads(final("HEALTHCHECK")[0].partition(" CMD ")[2])
    process = started(command, image, environment)
    process.communicate(timeout=60)
    return process.returncode


def test_the_image_is_pinned_has_stages_and_does_not_run_as_root() -> None:
    bases = [one.text.split()[0] for one in instructions() if one.name == "FROM"]
    assert bases == ["python:3.13-slim"] * 2
    assert final("USER") == ["vitto"]
    assert any("useradd" in text and "--uid" in text for text in final("RUN"))
    assert any("--require-hashes" in one.text for one in instructions() if one.name == "RUN")


def test_only_the_application_is_in_it(image: Path) -> None:
    assert {path.name for path in (image / "srv").iterdir()} == {"app.py", "chalicelib"}
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignored
    copied = {
        text.split()[0] for one in instructions() if one.name == "COPY" for text in [one.text] if "--from" not in text
    }
    assert {f"!{name}" for name in copied} == {line for line in ignored if line.startswith("!")}


def test_its_command_serves_and_its_health_check_sees_it(
    serving: subprocess.Popen[str], image: Path, environment: dict[str, str]
) -> None:
    assert health_check(image, environment) == 0
    code, output = ended(serving)
    assert code == 0, output
    assert health_check(image, environment) != 0


def test_a_request_under_way_is_answered_before_it_ends(
    serving: subprocess.Popen[str], environment: dict[str, str]
) -> None:
    code = (
        "import http.client, sys, time\n"
        f"c = http.client.HTTPConnection('127.0.0.1', {environment['PORT']}, timeout=30)\n"
        "c.putrequest('POST', '/engine/memories/recall')\n"
        "c.putheader('Content-Length', '2')\n"
        "c.endheaders()\n"
        "print('sent', flush=True)\n"
        "sys.stdin.readline()\n"
        "c.send(b'{}')\n"
        "print(c.getresponse().status)\n"
    )
    with subprocess.Popen(
        (sys.executable, "-c", code), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout
        assert client.stdout.readline() == "sent\n"
        time.sleep(1)  # the worker has taken the connection
        serving.send_signal(signal.SIGTERM)
        answer, _ = client.communicate("go\n", timeout=30)
    assert answer == "401\n"
    assert serving.wait(40) == 0


def test_the_same_image_runs_the_worker(image: Path, environment: dict[str, str]) -> None:
    process = started(["python", "-m", "chalicelib.entrypoints.worker", "--once"], image, environment)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    summary: dict[str, Any] = json.loads(output.splitlines()[-1])
    assert summary["failed"] == []
