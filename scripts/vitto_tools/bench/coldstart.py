"""`scripts/bench coldstart`: what a fresh function costs until it has answered its first request, and what the handler adds
to the service once it is warm.

The package is the one that is deployed, run by a bare Python; MongoDB, Redis and the embedding server are on loopback."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import new_id
from chalicelib.domain.query import RecallQuery
from chalicelib.entrypoints.auth.api_keys import mint
from vitto_tools.bench.client import unlike_others
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack, running
from vitto_tools.local.servers import ROOT
from vitto_tools.packaging.archive import unpack
from vitto_tools.packaging.build import build

STARTS, ROUNDS = 9, 200
EMBEDDING = 3  # starts that embed their query too, and import the client for that
USER = "bench"
MEMORY, QUERY = "Ana moved to Porto in May", "where did Ana live in {year}?"
FIRST_YEAR = 2001  # each process asks of another one, so that no answer is in the cache
EXPECTED = "about 2 minutes, half of it building the package"
MOST_TOTAL_MS, MOST_ADDED_MS = 1200, 3


def run(report: Report) -> None:
    """Print and note the figures."""
    report.say(f"coldstart: {EXPECTED}")
    with tempfile.TemporaryDirectory(prefix="vitto-coldstart-") as name:
        task = Path(name) / "task"
        unpack(build(ROOT, "dev", Path(name) / "package", report.say).archive, task)
        with running("coldstart", worker=False) as stack, report.progress("starts", STARTS + EMBEDDING) as advance:
            asked = _asked(stack)
            starts: list[dict[str, Any]] = []
            embedding: list[dict[str, Any]] = []
            for number in range(STARTS + EMBEDDING):
                one = _of_year(asked, FIRST_YEAR + number)
                is_known = number < STARTS
                if is_known:
                    _have_vector(stack, one)
                (starts if is_known else embedding).append(_start(task, stack, one))
                advance(1)
    _note(report, starts)
    report.note("coldstart.with_embedding_ms", statistics.median(one["import"] + one["first"] for one in embedding))


def _asked(stack: Stack) -> dict[str, Any]:
    """A recall, as API Gateway sends it, in an organization of its own that has something to recall."""
    services, org = stack.services, new_id("org")
    stored, shown = mint(
        org_id=org,
        name="bench",
        user_id=USER,
        roles=(Role.MEMBER,),
        now=services.ports.clock(),
        created_by="bench",
    )
    services.ports.keys.add(stored)
    verified = Caller(org, USER, frozenset({Role.MEMBER}), (), (), "bench")
    services.remember.remember(verified, [{"content": MEMORY}], key=None, single=True)
    event = {
        "resource": "/engine/memories/recall",
        "path": "/engine/memories/recall",
        "httpMethod": "POST",
        "headers": {"Authorization": f"Bearer {shown}", "Content-Type": "application/json", "Host": "bench"},
        "multiValueHeaders": {"Authorization": [f"Bearer {shown}"], "Content-Type": ["application/json"]},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "resourcePath": "/engine/memories/recall",
            "httpMethod": "POST",
            "requestId": "bench",
            "stage": "v1",
            "path": "/v1/engine/memories/recall",
            "identity": {"sourceIp": "127.0.0.1"},
        },
        "isBase64Encoded": False,
    }
    return {"event": event, "organization": org, "user": USER, "rounds": ROUNDS}


def _of_year(asked: dict[str, Any], year: int) -> dict[str, Any]:
    query = QUERY.format(year=year)
    return asked | {"query": query, "event": asked["event"] | {"body": json.dumps({"query": query})}}


def _have_vector(stack: Stack, asked: dict[str, Any]) -> None:
    """Have the query's vector kept, and no answer of the recall that is asked: this one has another least score."""
    reader = Caller(asked["organization"], USER, frozenset({Role.MEMBER}))
    stack.services.recall.recall(reader, RecallQuery(query=asked["query"], min_score=unlike_others()))


def _start(task: Path, stack: Stack, asked: dict[str, Any]) -> dict[str, Any]:
    """The times of one fresh process, with nothing but the package."""
    lambda_says = {
        "AWS_LAMBDA_FUNCTION_NAME": "vitto-bench",
        "LAMBDA_TASK_ROOT": str(task),
        "PYDANTIC_DISABLE_PLUGINS": "__all__",  # as .chalice/config.json has it
        "_X_AMZN_TRACE_ID": "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0",
    }
    environment = {"PYTHONPATH": str(task), "PYTHONDONTWRITEBYTECODE": "1", **stack.environment, **lambda_says}
    python = str(Path(sys._base_executable))  # type: ignore[attr-defined] # noqa: SLF001 - of the environment's own interpreter
    done = subprocess.run(
        (python, "-S", "-P", str(Path(__file__).with_name("coldstart_process.py"))),
        cwd=task,
        env={"PATH": os.environ["PATH"], **environment},
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the function did not start:\n{done.stderr}")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _note(report: Report, starts: list[dict[str, Any]]) -> None:
    total = [one["import"] + one["first"] for one in starts]
    added = [statistics.median(one["handler"]) - statistics.median(one["service"]) for one in starts]
    report.note("coldstart.import_ms", statistics.median(one["import"] for one in starts))
    report.note("coldstart.first_request_ms", statistics.median(one["first"] for one in starts))
    report.note("coldstart.total_ms", statistics.median(total))
    report.note("coldstart.least_total_ms", min(total))
    report.note("coldstart.cpu_ms", statistics.median(one["cpu"] for one in starts))
    report.note("warm.service_ms", statistics.median(statistics.median(one["service"]) for one in starts))
    report.note("warm.handler_over_service_ms", statistics.median(added))
    rows = [
        ("import and first recall", statistics.median(total), f"under {MOST_TOTAL_MS} is wanted"),
        ("handler over service, warm", statistics.median(added), f"under {MOST_ADDED_MS} is wanted"),
    ]
    report.table("milliseconds, median of the starts", ("what", "ms", ""), rows)
