"""`vitto costs`: what a deployment costs, from prices and sizes of one's own."""

from typing import Annotated

import typer

from vitto_tools.cli.target import fail
from vitto_tools.costs import Inputs, changed
from vitto_tools.costs_page import PAGE, page, tables


def costs(
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="An input in place of its own, as NAME=NUMBER; several times.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the tables to docs/costs.md.")] = False,
) -> None:
    """Print the costs of recalls, of memories, and of a month, with the inputs that they are computed from."""
    inputs = Inputs()
    for given in set_ or []:
        inputs = _with(inputs, given)
    if write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), inputs), encoding="utf-8")
        typer.echo(f"written to {PAGE}")
        return
    typer.echo(tables(inputs))


def _with(inputs: Inputs, given: str) -> Inputs:
    name, equals, number = given.partition("=")
    try:
        return changed(inputs, name, float(number))
    except KeyError:
        fail(f"--set {name}: is no input; `vitto costs` lists them")
    except ValueError:
        fail(f"--set {name}: takes a number from 0" + ("" if equals else ", as NAME=NUMBER"))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(costs)
