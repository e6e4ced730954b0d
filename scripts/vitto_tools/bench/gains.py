"""The table of what each ingredient of recall gains, as figures and as a part of `docs/retrieval.md`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chalicelib.settings import RecallSettings
from vitto_tools.bench.beam import CORE
from vitto_tools.bench.ingredients import ALL, NONE, Arrangement, arrangements
from vitto_tools.bench.metrics import OVERALL, Scores
from vitto_tools.bench.report import Report
from vitto_tools.local import servers

DOCUMENT = servers.ROOT / "docs" / "retrieval.md"
BEGIN, END = "<!-- gains: begin, written by scripts/bench recall --table -->", "<!-- gains: end -->"
PLAIN = "baseline.vector"
Parts = tuple[dict[str, Scores], dict[str, Scores]]  # of all dialogues, and of those held out


@dataclass(frozen=True)
class _Column:
    """A figure of the table, with its name in `--json`."""

    head: str
    name: str
    of: Callable[[str], float]


class Gains:
    """What each ingredient gains over going without it, in percentage points, on the data sets that were measured."""

    def __init__(self, measured: Mapping[str, Parts], settings: RecallSettings) -> None:
        self._columns = list(_columns(measured))
        self._arrangements = [one for one in arrangements(settings) if one.ingredient]

    def note(self, report: Report) -> None:
        """Print the table and keep its figures."""
        heads = ["", *(column.head for column in self._columns)]
        report.table("gains of the ingredients, percentage points", heads, list(self._rows()))
        for one in self._arrangements:
            for column in self._columns:
                report.note(f"gain.{one.ingredient}.{column.name}", _gain(column, one))

    def lines(self) -> list[str]:
        """The table in Markdown."""
        heads = ["", *(column.head for column in self._columns)]
        rows = [
            [row[0], *(f"{value:{'+' if signed else ''}.1f}" for value in row[1:])] for row, signed in self._signed()
        ]
        return [_line(heads), _line(["---", *("---:" for _ in self._columns)]), *(_line(row) for row in rows)]

    def _signed(self) -> Iterator[tuple[list[str | float], bool]]:
        """The rows, and whether what they hold are differences."""
        for name, system in (("one vector query", PLAIN), ("no ingredient", NONE), ("as it is set", ALL)):
            yield [name, *(column.of(system) for column in self._columns)], False
        for one in self._arrangements:
            yield [f"`{one.ingredient}`", *(_gain(column, one) for column in self._columns)], True

    def _rows(self) -> Iterator[list[str | float]]:
        yield from (row for row, _ in self._signed())


def write_table(lines: Sequence[str], document: Path = DOCUMENT) -> None:
    """Put the table between its marks in `document`; where the marks are missing, at its end."""
    text = document.read_text() if document.exists() else "# Retrieval\n"
    if BEGIN not in text:
        text = f"{text.rstrip()}\n\n## What each ingredient gains\n\n{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}")


def _columns(measured: Mapping[str, Parts]) -> Iterator[_Column]:
    if "locomo" in measured:
        whole, heldout = measured["locomo"]
        yield _Column("LoCoMo recall@10", "locomo.recall_at_10", lambda name: whole[name].recall(10, OVERALL))
        yield _Column("LoCoMo MRR", "locomo.mrr", lambda name: whole[name].mrr(OVERALL))
        yield _Column("adversarial", "locomo.adversarial.recall_at_10", lambda name: whole[name].recall(10, [5]))
        if heldout:
            head = "conversations 6–10 recall@10"
            yield _Column(head, "locomo.heldout.recall_at_10", lambda name: heldout[name].recall(10, OVERALL))
    if "beam" in measured:
        chats, _ = measured["beam"]
        yield _Column("BEAM recall@10", "beam.core7.recall_at_10", lambda name: chats[name].recall(10, CORE))
        yield _Column("BEAM MRR", "beam.core7.mrr", lambda name: chats[name].mrr(CORE))
        above = "beam.updated_above_original"
        yield _Column("updated above original", above, lambda name: chats[name].updated_above_original)


def _gain(column: _Column, one: Arrangement) -> float:
    """With the ingredient less without it, whichever of the two is as it is set."""
    with_it, without = (one.name, ALL) if one.changes[one.ingredient] else (ALL, one.name)
    return column.of(with_it) - column.of(without)


def _line(cells: Sequence[str | float]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"
