"""`vitto openapi`: the contract as a file."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from app import app as application
from chalicelib.entrypoints.http import operations
from chalicelib.entrypoints.openapi import document
from vitto_tools.contract import COMMITTED, as_text
from vitto_tools.contract.breaking import breaking_changes

console = Console()


def openapi(
    output: Annotated[Path, typer.Option(help="Where to write it; the committed copy if left out.")] = COMMITTED,
) -> None:
    """Write the OpenAPI document of the routes, and say what it breaks for clients of the file that was there."""
    made = document(operations(application))
    before = json.loads(output.read_text(encoding="utf-8")) if output.exists() else made
    output.write_text(as_text(made), encoding="utf-8")
    for change in breaking_changes(before, made):
        console.print(f"[red]BREAKING[/red] {change}", highlight=False)
    console.print(f"written to {output}", highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(openapi)
