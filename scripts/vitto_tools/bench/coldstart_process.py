"""A function as Lambda starts it: run by a bare Python in the unpacked package, it imports the application, answers requests
through the handler and through the service in turn, and prints the times as JSON.

On standard input stands an object with the `event` of a request, the `query` that it asks, and the number of `rounds`."""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

WARM = 10


def main() -> None:
    """Measure, with what the function logs left to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    asked = json.load(sys.stdin)
    app, import_ms = _timed(lambda: importlib.import_module("app"))
    context = SimpleNamespace(
        function_name="vitto-bench",
        aws_request_id="bench",
        function_version="$LATEST",
        memory_limit_in_mb=1024,
        invoked_function_arn="arn:aws:lambda:eu-central-1:000000000000:function:vitto-bench",
        get_remaining_time_in_millis=lambda: 29_000,
    )
    answer, first_ms = _timed(lambda: app.app(asked["event"], context))
    cpu_ms = time.process_time() * 1000  # the interpreter's own start too
    if answer["statusCode"] != 200:  # noqa: PLR2004 - HTTP's word for well
        raise SystemExit(f"the first request got {answer['statusCode']}: {answer['body']}")
    handler, service = _warm(lambda: app.app(asked["event"], context), asked)
    said = {"import": import_ms, "first": first_ms, "cpu": cpu_ms, "handler": handler, "service": service}
    answers.write(json.dumps(said))
    answers.close()


def _warm(request: Callable[[], Any], asked: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Milliseconds of warm requests, and of the same recall asked of the service."""
    from chalicelib.bootstrap import container  # noqa: PLC0415 - Lambda imports `app` first
    from chalicelib.domain.caller import Caller, Role  # noqa: PLC0415 - see above
    from chalicelib.domain.query import RecallQuery  # noqa: PLC0415 - see above

    recall = container().recall
    caller = Caller(asked["organization"], asked["user"], frozenset({Role.MEMBER}), (), (), "bench")
    query = RecallQuery(query=asked["query"])
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(WARM + asked["rounds"]):
        pair = _timed(request)[1], _timed(lambda: recall.recall(caller, query))[1]
        if number >= WARM:
            for times, value in zip(taken, pair, strict=True):
                times.append(value)
    return taken


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and its milliseconds."""
    began = time.perf_counter()
    given = call()
    return given, (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
