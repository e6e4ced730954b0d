"""The tables of docs/costs.md, written between its marks from `costs`."""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence

from vitto_tools import costs
from vitto_tools.costs import Inputs, Kept
from vitto_tools.local.servers import ROOT

PAGE = ROOT / "docs" / "costs.md"
BEGIN, END = "<!-- costs: begin, written by vitto costs --write -->", "<!-- costs: end -->"
SIZES = ((10_000, 100_000), (100_000, 1_000_000), (1_000_000, 1_000_000), (10_000_000, 10_000_000))
"""Memories kept, and recalls a month."""
_KINDS = {"price": "list price", "measured": "measured", "assumed": "assumed"}


def tables(inputs: Inputs) -> str:
    """All of them, as Markdown."""
    return "\n\n".join(
        (
            _of("A million recalls", costs.recalls(inputs), "$"),
            _of("A million memories remembered", costs.memories(inputs), "$"),
            _kept(inputs),
            _of("Whatever is asked", costs.standing(inputs, _alarms()), "$ a month", total=True),
            _of("A network of the stack's own, one of", costs.network(inputs), "$ a month", total=False),
            _inputs(inputs),
        )
    )


def page(text: str, inputs: Inputs) -> str:
    """A page with the tables between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables(inputs)}\n\n{END}{after}"


def _alarms() -> int:
    """How many the template has."""
    resources = json.loads((ROOT / "infra" / "alarms.json").read_text())["Resources"]
    return sum(one["Type"] == "AWS::CloudWatch::Alarm" for one in resources.values())


def _of(title: str, parts: Mapping[str, float], unit: str, *, total: bool = True) -> str:
    rows = [(name, _dollars(value)) for name, value in parts.items()]
    if total:
        rows.append(("**together**", f"**{_dollars(sum(parts.values()))}**"))
    return _table((title, unit), rows)


def _kept(inputs: Inputs) -> str:
    heads = ("memories kept", "recalls a month", "MongoDB, GB", "Atlas", "$ a month", "Redis, GB", "node", "$ a month")
    return _table(heads, [_kept_row(costs.kept(inputs, *size), size[1]) for size in SIZES])


def _kept_row(one: Kept, asked: int) -> tuple[str, ...]:
    mongo = (f"{one.mongo_gb:.2f}", one.tier, _dollars(one.mongo_month))
    redis = (f"{one.redis_gb:.2f}", one.nodes, _dollars(one.redis_month))
    return (f"{one.memories:,}", f"{asked:,}", *mongo, *redis)


def _inputs(inputs: Inputs) -> str:
    rows = [
        (f"`{one.name}`", f"{getattr(inputs, one.name):g}", one.metadata["what"], _KINDS[one.metadata["kind"]])
        for one in dataclasses.fields(inputs)
    ]
    return _table(("input", "value", "what it is", "from"), rows)


def _dollars(value: float) -> str:
    return "ask" if math.isnan(value) else f"{value:,.2f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
