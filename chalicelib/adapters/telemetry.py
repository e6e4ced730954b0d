"""Failures are said: a log line and a metric for each event, a trace where one is wanted, all by AWS Powertools.

Logs are JSON and metrics EMF, both on standard output, but for commands, whose output is their own: see `say_on_stderr`.
Everything is imported at first use: no cold start waits for it.
"""

import functools
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Literal

SERVICE = "vitto-memory"
NAMESPACE = "VittoMemory"
DIMENSIONS = ("function_name", "store", "part", "code", "job", "plugin")
"""Fields of few values, by which a metric is counted too. By an id or a reason, each event would be a metric of its own."""
_SAMPLED = "Sampled=1"
Counting = Callable[[str, float, Mapping[str, str]], None]
"""Writes a metric: its name, its value, and the dimensions by which it is counted beside the service."""

_first = threading.Lock()
_on_stderr = threading.Event()
_keys: ContextVar[Mapping[str, str]] = ContextVar("telemetry_keys", default=MappingProxyType({}))


@contextmanager
def _keyed(keys: Mapping[str, Any]) -> Iterator[None]:
    token = _keys.set({**_keys.get(), **{key: str(value) for key, value in keys.items()}})
    try:
        yield
    finally:
        _keys.reset(token)


def say_on_stderr() -> None:
    """Have logs and metrics of this process go to standard error. For commands, before the first event."""
    _on_stderr.set()


def _untraced() -> str:
    return ""


class PowertoolsTelemetry:
    """`ports.Telemetry`. `trace_header` gives the X-Ray header of the present invocation, empty where nothing traces."""

    def __init__(self, trace_header: Callable[[], str] = _untraced) -> None:
        self._trace_header = trace_header
        self._recorder_missing = False

    def event(self, name: str, *, level: Literal["info", "warning", "error"] = "warning", **fields: Any) -> None:
        said = {**_keys.get(), **{key: str(value) for key, value in fields.items()}}
        emit, count = _sinks()
        getattr(emit, level)(name, extra=said)
        count(name, 1, {key: said[key] for key in DIMENSIONS if said.get(key)})

    def gauge(self, name: str, value: float) -> None:
        _, count = _sinks()
        count(name, value, {})

    def request(self, **keys: Any) -> AbstractContextManager[None]:
        return _keyed(keys)

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        recorder = self._recorder() if _SAMPLED in self._trace_header() else None
        part = recorder.begin_subsegment(name) if recorder else None
        if recorder is None or part is None:
            yield
            return
        try:
            yield
        except BaseException:
            part.add_fault_flag()  # the SDK's own way would send the message too, which may be a tenant's
            raise
        finally:
            recorder.end_subsegment()

    def _recorder(self) -> Any:
        """X-Ray's recorder; None where it is switched off, or its SDK cannot be loaded: outside Lambda it wants botocore."""
        try:
            tracer = None if self._recorder_missing else _tracer()
        except ImportError as error:
            self._recorder_missing = True
            self.event("tracing_unavailable", reason=f"{error.name} cannot be imported")
            return None
        return tracer.provider if tracer and not tracer.disabled else None


def _sinks() -> tuple[Any, Counting]:
    with _first:  # two loggers made at once would each write every line
        return _made_sinks()


@functools.cache
def _made_sinks() -> tuple[Any, Counting]:
    from aws_lambda_powertools import Logger  # noqa: PLC0415 - see the module
    from aws_lambda_powertools.metrics import MetricUnit  # noqa: PLC0415 - see the module
    from aws_lambda_powertools.metrics.provider.cloudwatch_emf import cloudwatch  # noqa: PLC0415 - see the module

    def count(name: str, value: float, dimensions: Mapping[str, str]) -> None:
        metrics = cloudwatch.AmazonCloudWatchEMFProvider(namespace=NAMESPACE, service=SERVICE)
        metrics.add_metric(name, MetricUnit.Count, value)
        for key, said in dimensions.items():
            metrics.add_dimensions(**{"service": SERVICE, key: said})
        line = json.dumps(metrics.serialize_metric_set(), separators=(",", ":"))
        # at once: what the library itself prints comes in pieces, which threads would mix
        out = sys.stderr if _on_stderr.is_set() else sys.stdout
        out.write(f"{line}\n")
        out.flush()

    return Logger(service=SERVICE, stream=sys.stderr if _on_stderr.is_set() else sys.stdout), count


@functools.cache
def _tracer() -> Any:
    from aws_lambda_powertools import Tracer  # noqa: PLC0415 - see the module

    return Tracer(service=SERVICE, auto_patch=False)


class RecordedTelemetry:
    """`ports.Telemetry` that keeps its events, the names of its spans and the last value of each gauge: the twin."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.gauges: dict[str, float] = {}
        self.spans: list[str] = []

    def event(self, name: str, *, level: Literal["info", "warning", "error"] = "warning", **fields: Any) -> None:
        self.events.append((name, {"level": level} | dict(_keys.get()) | fields))

    def gauge(self, name: str, value: float) -> None:
        self.gauges[name] = value

    def request(self, **keys: Any) -> AbstractContextManager[None]:
        return _keyed(keys)

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        self.spans.append(name)
        yield
