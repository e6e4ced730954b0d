"""What surrounds every function, HTTP or event: the keys of its log lines, and its part of the trace."""

import itertools
from collections.abc import Callable
from typing import Any

from chalicelib.bootstrap import container
from chalicelib.errors import VittoError

_invocations = itertools.count()


def observed(event: Any, get_response: Callable[[Any], Any]) -> Any:
    """Chalice middleware: run the function with its request id, name and cold start in all that it says.

    Outside Lambda there is nothing of the kind to say; that the service is misconfigured the function says itself."""
    context: Any = getattr(event, "lambda_context", None) or getattr(event, "context", None)
    in_lambda = bool(getattr(context, "invoked_function_arn", ""))  # the local gateway's context has none
    try:
        telemetry = container().ports.telemetry if in_lambda else None
    except VittoError:
        telemetry = None
    if telemetry is None:
        return get_response(event)
    name, cold = context.function_name, next(_invocations) == 0
    keys = {"function_request_id": context.aws_request_id, "function_name": name, "cold_start": cold}
    with telemetry.request(**keys), telemetry.span(name):
        return get_response(event)
