"""What telemetry writes: JSON log lines with the keys of their request, metrics by few dimensions, traces of no contents."""

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.telemetry import PowertoolsTelemetry, RecordedTelemetry
from chalicelib.bootstrap import traced
from tests.building import chain, in_memory_ports, row
from tests.unit.fake_secrets import AWS_KEY

ROOT = Path(__file__).parents[2]
HEADER = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled="
TRACED = f"""
import contextlib, os
from chalicelib.adapters.telemetry import PowertoolsTelemetry
telemetry = PowertoolsTelemetry(lambda: os.environ["_X_AMZN_TRACE_ID"])
with contextlib.suppress(ValueError), telemetry.span("api"), telemetry.span("store.fetch"):
    raise ValueError("{AWS_KEY}")
with telemetry.span("store.browse"):
    pass
"""


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What was written, line by line."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def written(code: str) -> list[Any]:
    """What a process of its own writes: the library takes hold of standard output at its first event."""
    run = subprocess.run(
        [sys.executable, "-c", "from chalicelib.adapters.telemetry import PowertoolsTelemetry\n" + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_an_event_is_a_log_line_and_a_metric_with_the_keys_of_its_request() -> None:
    log, metric, later, _ = written(
        "t = PowertoolsTelemetry()\n"
        "with t.request(function_name='sweep', function_request_id='r1'):\n"
        "    t.event('job_failing', level='error', job='drain', reason='why')\n"
        "t.event('later')\n"
    )
    assert (log["level"], log["message"], log["service"]) == ("ERROR", "job_failing", "vitto-memory")
    assert (log["job"], log["reason"], log["function_name"], log["function_request_id"]) == (
        "drain",
        "why",
        "sweep",
        "r1",
    )
    (directive,) = metric["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "VittoMemory"
    assert directive["Dimensions"] == [["service"], ["service", "function_name"], ["service", "job"]]
    assert [one["Name"] for one in directive["Metrics"]] == ["job_failing"]
    assert "function_name" not in later


def test_beside_the_application_an_event_is_still_one_log_line_and_one_metric() -> None:
    log, metric = written("import app\nPowertoolsTelemetry().event('memory_lost')\n")
    assert log["message"] == "memory_lost"
    assert metric["_aws"]["CloudWatchMetrics"][0]["Metrics"][0]["Name"] == "memory_lost"


def test_a_command_keeps_standard_output_to_itself() -> None:
    code = "from chalicelib.adapters import telemetry\ntelemetry.say_on_stderr()\n"
    assert written(code + "PowertoolsTelemetry().event('sweep_finished')\n") == []


def test_a_gauge_is_a_metric_of_the_service_and_no_log_line() -> None:
    (metric,) = written(
        "t = PowertoolsTelemetry()\nwith t.request(function_name='retry_pending'):\n    t.gauge('pending_rows', 7)\n"
    )
    (directive,) = metric["_aws"]["CloudWatchMetrics"]
    assert (directive["Namespace"], directive["Dimensions"]) == ("VittoMemory", [["service"]])
    assert metric["pending_rows"] == [7.0]


def test_an_id_is_no_dimension() -> None:
    _, metric = written("PowertoolsTelemetry().event('recall_degraded', recall_id='rcl_1', part='redis_text')\n")
    assert metric["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["service"], ["service", "part"]]
    assert "rcl_1" not in json.dumps(metric)


def test_threads_write_whole_lines_and_each_event_once() -> None:
    said = written(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "t = PowertoolsTelemetry()\n"
        "with ThreadPoolExecutor(16) as pool:\n"
        "    list(pool.map(lambda i: t.event('said', number=i), range(200)))\n"
    )
    assert sorted(int(line["number"]) for line in said if "message" in line) == list(range(200))
    assert sum("_aws" in line for line in said) == 200


def sent(sampled: bool, **environment: str) -> list[dict[str, Any]]:
    """What a process in Lambda sends to X-Ray's daemon."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{daemon.getsockname()[1]}"
        lambda_ = {"LAMBDA_TASK_ROOT": str(ROOT), "AWS_XRAY_DAEMON_ADDRESS": address}
        header = {"_X_AMZN_TRACE_ID": f"{HEADER}{int(sampled)}"}
        subprocess.run(
            [sys.executable, "-c", TRACED],
            cwd=ROOT,
            env={"PATH": os.defpath, **lambda_, **header, **environment},
            check=True,
            timeout=60,
        )
        daemon.setblocking(False)
        received = []
        while True:
            try:
                received.append(json.loads(daemon.recv(65536).split(b"\n", 1)[1]))
            except BlockingIOError:
                return received


def test_a_sampled_invocation_sends_its_parts_without_what_an_error_said() -> None:
    parts = {part["name"]: part for part in sent(sampled=True)}
    assert parts.keys() == {"api", "store.fetch", "store.browse"}
    assert parts["store.fetch"]["parent_id"] == parts["api"]["id"]
    assert [bool(parts[name].get("fault")) for name in ("api", "store.fetch", "store.browse")] == [True, True, False]
    assert AWS_KEY not in json.dumps(parts)


def test_one_that_is_not_sampled_sends_nothing() -> None:
    assert sent(sampled=False) == []


def test_tracing_can_be_switched_off() -> None:
    assert sent(sampled=True, POWERTOOLS_TRACE_DISABLED="true") == []


def test_outside_lambda_no_tracer_is_loaded() -> None:
    assert written(
        "import json, sys\n"
        "with PowertoolsTelemetry().span('api'):\n"
        "    print(json.dumps(['aws_xray_sdk' in sys.modules, 'aws_lambda_powertools' in sys.modules]))\n"
    ) == [[False, False]]


def test_without_the_sdk_the_work_goes_on_and_that_is_said_once() -> None:
    said = written(
        "import sys\n"
        "sys.modules['aws_xray_sdk'] = None\n"
        f"t = PowertoolsTelemetry(lambda: '{HEADER}1')\n"
        "for _ in range(3):\n"
        "    with t.span('api'):\n"
        "        pass\n"
    )
    assert [line["message"] for line in said if "message" in line] == ["tracing_unavailable"]


def test_every_call_to_a_store_is_a_part_of_the_trace_and_answers_as_before() -> None:
    telemetry = RecordedTelemetry()
    store = InMemoryMemoryStore()
    ports = traced(in_memory_ports(telemetry=telemetry, store=store, hot=None))
    stored = row()
    assert ports.store.insert([stored]) == [None]
    assert ports.store.fetch(chain("acme"), [stored.memory.id]) == store.fetch(chain("acme"), [stored.memory.id])
    assert ports.embedder.passage_model
    assert telemetry.spans == ["store.insert", "store.fetch"]
    assert ports.hot is None


def test_the_keys_of_one_thread_are_not_another_threads() -> None:
    telemetry = RecordedTelemetry()
    with telemetry.request(function_request_id="mine"), ThreadPoolExecutor(1) as pool:
        pool.submit(telemetry.event, "elsewhere").result()
    assert telemetry.events == [("elsewhere", {"level": "warning"})]


def test_a_span_lets_an_error_through() -> None:
    with pytest.raises(ValueError, match="gone"), PowertoolsTelemetry(lambda: "").span("api"):
        raise ValueError("gone")
