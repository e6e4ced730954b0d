"""`vitto recall explain`: what a recall did, for a person to read."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from vitto_tools.cli.target import api, path_part

EXPLAIN = "explain"
IDS_BEGIN = "rcl_"


def is_asked(words: Sequence[str]) -> bool:
    """Whether the words after `vitto recall` ask for an explanation and are no query."""
    return len(words) == 2 and words[0] == EXPLAIN and words[1].startswith(IDS_BEGIN)  # noqa: PLR2004 - the word and the id


def fetched(recall_id: str) -> dict[str, Any]:
    """The audit of that recall."""
    found: dict[str, Any] = api().call("GET", f"/engine/recalls/{path_part(recall_id)}")
    return found


def show(record: Mapping[str, Any], console: Console) -> None:
    """Print it: query, route, tiers, hits, candidates, and what was left out."""
    asked = escape(record["query"]) or "[dim]the query is its reader's own[/dim]"
    console.print(f"[bold]query[/bold] {asked}  [dim]{record['at']}, {escape(', '.join(record['scopes']))}[/dim]")
    if conditions := record.get("conditions"):
        console.print(
            f"[bold]asked[/bold] {escape(', '.join(f'{name} {value}' for name, value in conditions.items()))}"
        )
    if route := record.get("route"):
        reasons = "; ".join(f"{reason['code']}: {reason['text']}" for reason in route["reasons"])
        console.print(f"[bold]route[/bold] {route['name']} ({escape(reasons)})")
    if record.get("cached"):
        console.print("[bold]cached[/bold] the hits are those of the recall that was kept")
    if empty := record.get("empty"):
        console.print(f"[bold]empty[/bold] {empty}")
    for missing in record.get("degraded", ()):
        console.print(f"[yellow]degraded[/yellow] {escape(missing['part'])}: {escape(missing['message'])}")
    _table(console, "tiers", record.get("tiers", ()), ("tier", "ms", "candidates", "skipped"))
    _table(console, "hits", [_flat(hit) for hit in record.get("hits", ())], _HIT)
    _table(console, "candidates", record.get("candidates", ()), _CANDIDATE)
    _table(console, "left out", record.get("leftOut", ()), ("id", "rule", "score", "by", "override"))


_HIT = ("id", "tier", "score", "similarity", "coverage", "bm25", "fused", "lent", "via", "overrode", "overriddenBy")
_CANDIDATE = ("id", "tier", "cosine", "bm25", "question", "moved", "fused")


def _flat(hit: Mapping[str, Any]) -> dict[str, Any]:
    via = hit.get("via")
    told = {"via": f"{via['over']} {via['id']}"} if via else {}
    for name in ("overrode", "overriddenBy"):
        if overrides := hit.get(name):
            told[name] = ", ".join(f"{one['rule']} {one['id']}" for one in overrides)
    return {**hit["scores"], **hit, **told}


def _table(console: Console, title: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """The rows, without columns that none of them has."""
    shown = [name for name in columns if any(row.get(name) is not None for row in rows)]
    if not rows:
        return
    heads = [Column(name, overflow="fold") for name in shown]  # ids begin alike: one that is cut names nothing
    table = Table(*heads, title=title, title_justify="left", title_style="bold", box=None, header_style="dim")
    for row in rows:
        table.add_row(*(escape(str(row.get(name, ""))) for name in shown))
    console.print(table)
