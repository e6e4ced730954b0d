"""Failures are said: a log line and a metric for each event, by AWS Powertools (JSON logs, EMF metrics on stdout)."""

import functools
from typing import Any, Literal

_NAMESPACE = "VittoMemory"


class PowertoolsTelemetry:
    """`ports.Telemetry`. Powertools is imported at the first event, so that a cold start does not wait for it."""

    def event(self, name: str, *, level: Literal["info", "warning", "error"] = "warning", **fields: Any) -> None:
        emit, count = _sinks()
        getattr(emit, level)(name, extra={key: str(value) for key, value in fields.items()})
        count(name)


@functools.cache
def _sinks() -> tuple[Any, Any]:
    from aws_lambda_powertools import Logger  # noqa: PLC0415 - see the class
    from aws_lambda_powertools.metrics import MetricUnit, single_metric  # noqa: PLC0415 - see the class

    def count(name: str) -> None:
        with single_metric(name=name, unit=MetricUnit.Count, value=1, namespace=_NAMESPACE):
            """The metric is written when the block ends."""

    return Logger(service="vitto-memory"), count


class RecordedTelemetry:
    """`ports.Telemetry` that keeps its events: the twin."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def event(self, name: str, *, level: Literal["info", "warning", "error"] = "warning", **fields: Any) -> None:
        self.events.append((name, {"level": level} | fields))
