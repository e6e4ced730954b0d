"""`vitto remember`, `recall`, `show`, `forget`, `explain`, `health`: what the HTTP API does, from a terminal."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vitto_tools.cli import recalls
from vitto_tools.cli.target import api, path_part

console = Console()
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as it came.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")]


def remember(
    content: str,
    scope: Annotated[str, typer.Option(help="organization, space, universe or user")] = "user",
    scope_id: Annotated[str | None, typer.Option(help="Needed for space and universe.")] = None,
    type_: Annotated[str, typer.Option("--type", help="fact, decision, preference, …")] = "fact",
    tag: Tags = None,
) -> None:
    """Remember one thing, and print its receipt."""
    item: dict[str, Any] = {"content": content, "scope": scope, "type": type_, "tags": tag or []}
    if scope_id is not None:
        item["scopeId"] = scope_id
    _print(api().call("POST", "/engine/memories", json=item)["receipts"][0])


def recall(
    words: Annotated[list[str], typer.Argument(metavar="QUERY | explain RECALL_ID")],
    limit: Annotated[int | None, typer.Option(min=1, max=100, help="Left out, the route says.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="Ask this kind of scope only; may be repeated.")] = None,
    type_: Annotated[list[str] | None, typer.Option("--type", help="Of this type only; may be repeated.")] = None,
    tag: Tags = None,
    route: Annotated[str | None, typer.Option(help="fast, standard or deep; left out, the router chooses.")] = None,
    include: Annotated[list[str] | None, typer.Option(help="superseded, merged or shipped; may be repeated.")] = None,
    as_of: Annotated[str | None, typer.Option(help="A time such as 2026-03-01T12:00:00Z.")] = None,
    as_json: AsJson = False,
) -> None:
    """Recall what matters for a query, with the reasons; or explain what an earlier recall did, and why."""
    if recalls.is_asked(words):
        explain(words[1], as_json=as_json)
        return
    given = {"limit": limit, "scopes": scope, "types": type_, "route": route, "include": include, "asOf": as_of}
    asked: dict[str, Any] = {"query": " ".join(words), "tags": tag or []}
    asked |= {name: value for name, value in given.items() if value}
    answer = api().call("POST", "/engine/memories/recall", json=asked)
    if as_json:
        _print(answer)
        return
    for missing in answer["degraded"]:
        said = f"{missing['part']}: {missing['message']}"
        console.print(f"[yellow]degraded[/yellow] {escape(said)}", highlight=False)
    if empty := answer.get("empty"):
        console.print(f"[yellow]{empty['reason']}[/yellow] {empty['message']} {empty['next']}", highlight=False)
    table = Table("score", "memory", "scope", "why", box=None, header_style="bold")
    for hit in answer["hits"]:
        memory = hit["memory"]
        cells = (f"{hit['score']:.2f}", memory["content"], f"{memory['scope']} {memory['scopeId']}", hit["why"])
        table.add_row(*(escape(cell) for cell in cells))
    if answer["hits"]:
        console.print(table)
    chosen = answer["route"]["name"]
    source = "cached" if answer["cached"] else ", ".join(t["tier"] for t in answer["tiers"] if not t.get("skipped"))
    console.print(f"[dim]{answer['recallId']} in {answer['tookMs']:.1f} ms ({chosen}; {source})[/dim]", highlight=False)


def show(id_: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Show one memory with its history."""
    _print(api().call("GET", f"/engine/memories/{path_part(id_)}"))


def forget(id_: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Forget one memory; `POST /engine/memories/ID/restore` undoes it for 7 days."""
    _print(api().call("DELETE", f"/engine/memories/{path_part(id_)}"))


def restore(id_: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Undo a forget."""
    _print(api().call("POST", f"/engine/memories/{path_part(id_)}/restore", json={}))


def explain(recall_id: str, as_json: AsJson = False) -> None:
    """Show what a recall did and why; `vitto recall explain` does the same."""
    record = recalls.fetched(recall_id)
    if as_json:
        _print(record)
    else:
        recalls.show(record, console)


def health() -> None:
    """Probe the stores; exit code 1 unless all are well."""
    report = api().call("GET", "/health")
    _print(report)
    if report["status"] != "ok":
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (remember, recall, show, forget, restore, explain, health):
        app.command()(command)


def _print(value: Any) -> None:
    console.print_json(json.dumps(value, ensure_ascii=False))
