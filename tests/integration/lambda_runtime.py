"""A Lambda runtime as a process: `bare.py` with the unpacked package, spoken to line by line."""

import dataclasses
import json
import subprocess
from pathlib import Path
from typing import Any

from tests.lambda_context import LambdaContext


class Runtime:
    """A process with the package in it; its functions' output is in `log`."""

    def __init__(self, python: str, task: Path, log: Path, environment: dict[str, str]) -> None:
        self.log = log
        with log.open("w") as output:
            self.process = subprocess.Popen(
                (python, "-S", "-P", str(Path(__file__).with_name("bare.py"))),
                cwd=task,
                env={"PYTHONPATH": str(task), "PYTHONDONTWRITEBYTECODE": "1", **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
            )
        self.start = self._read()

    def call(self, handler: str, event: Any, *, remaining_ms: int = 29_000) -> dict[str, Any]:
        """What a handler answers."""
        context = LambdaContext(function_name=f"vitto-{handler.partition('.')[2]}")
        said = {
            field.name: getattr(context, field.name)
            for field in dataclasses.fields(context)
            if field.name != "remaining_ms"
        } | {"invoked_function_arn": context.invoked_function_arn}
        assert self.process.stdin
        asked = {"handler": handler, "event": event, "context": said, "remainingMs": remaining_ms}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return self._read()

    def given(self, handler: str, event: Any) -> Any:
        """What a handler gives where it does not fail."""
        answer = self.call(handler, event)
        assert "given" in answer, (answer, self.log.read_text())
        return answer["given"]

    def said(self, name: str) -> list[dict[str, Any]]:
        """The log lines of an event."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("message") == name]

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        found: dict[str, Any] = json.loads(line)
        return found

    def stop(self) -> None:
        """Let it end."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(20)
        assert self.process.stdout
        self.process.stdout.close()
