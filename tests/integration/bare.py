"""A Lambda runtime with nothing beside the package: run by a bare Python in the unpacked zip, spoken to line by line.

Each line on standard input is a JSON object with `handler`, `event` and `context`; each answer is a line on the stream that
was standard output, which the functions' own logs then leave to standard error.
"""

import importlib
import json
import os
import sys
import time
from types import SimpleNamespace
from typing import Any


def main() -> None:
    """Import the package as Lambda does, say what that took, and serve."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    began = time.perf_counter()
    module = importlib.import_module("app")
    loaded = sorted({name.partition(".")[0] for name in sys.modules})
    answers.write(json.dumps({"importSeconds": time.perf_counter() - began, "loaded": loaded, "path": sys.path}) + "\n")
    for line in sys.stdin:
        answers.write(json.dumps(answer(module, json.loads(line))) + "\n")


def answer(module: object, asked: dict[str, Any]) -> dict[str, Any]:
    """What a handler gives, or how it failed."""
    name, _, function = asked["handler"].partition(".")
    assert name == "app"
    context = SimpleNamespace(**asked["context"], get_remaining_time_in_millis=lambda: asked["remainingMs"])
    began = time.perf_counter()
    try:
        given = getattr(module, function)(asked["event"], context)
    except Exception as error:  # noqa: BLE001 - as Lambda does, whatever it is
        return {"failed": type(error).__name__, "message": str(error)}
    return {"given": given, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    main()
