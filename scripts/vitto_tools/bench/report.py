"""What a bench prints, and the flat object of figures that `--json` writes."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

LINE_SECONDS = 10


class Report:
    """Collects figures under the names of `docs/benchmarks.md`."""

    def __init__(self) -> None:
        self._console = Console(width=160)
        self.figures: dict[str, float] = {}

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, highlight=False)

    def note(self, name: str, value: float) -> None:
        """Keep a figure."""
        self.figures[name] = round(value, 4)

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Callable[[int], None]]:
        """A bar on a terminal, a line every ten seconds elsewhere; what it gives is told of each step."""
        began = said = time.monotonic()
        done = 0
        with Progress(console=self._console, transient=True, disable=not self._console.is_terminal) as bars:
            bar = bars.add_task(title, total=total)

            def advance(steps: int) -> None:
                nonlocal done, said
                done += steps
                bars.advance(bar, steps)
                if not self._console.is_terminal and time.monotonic() - said > LINE_SECONDS:
                    said = time.monotonic()
                    self.say(f"{title}: {done} of {total}")

            yield advance
        self.say(f"{title}: {total} in {time.monotonic() - began:.0f} s")

    def table(self, title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print a table."""
        table = Table(*heads, title=title, title_justify="left", box=None, header_style="bold")
        for row in rows:
            table.add_row(*(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row))
        self._console.print(table)

    def write(self, file: Path | None) -> None:
        """Print the figures, and write them where asked."""
        for name, value in sorted(self.figures.items()):
            self._console.print(f"{name} = {value:g}", highlight=False)
        if file is not None:
            file.write_text(json.dumps(self.figures, indent=2, sort_keys=True) + "\n")
