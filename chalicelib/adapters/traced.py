"""Any port as a part of the trace: each call to a store or the embedder is a span named `<port>.<method>`."""

import functools
from typing import Any

from chalicelib.ports import Telemetry


class Traced:
    """Stands for `inner` and has all that it has."""

    def __init__(self, inner: object, name: str, telemetry: Telemetry) -> None:
        self._inner = inner
        self._name = name
        self._telemetry = telemetry

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._inner, attribute)
        return self._spanned(attribute, value) if callable(value) else value

    def _spanned(self, attribute: str, call: Any) -> Any:
        @functools.wraps(call)
        def spanned(*arguments: Any, **keywords: Any) -> Any:
            with self._telemetry.span(f"{self._name}.{attribute}"):
                return call(*arguments, **keywords)

        self.__dict__[attribute] = spanned  # the next call finds it without asking
        return spanned
