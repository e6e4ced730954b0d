"""`vitto admission`: why a memory was let in or not, from the verdict that is stored with it."""

import json
from typing import Annotated

import typer
from rich.console import Console

from chalicelib.domain.admission import Verdict
from chalicelib.write.admission.judgement import replay as replayed
from vitto_tools.cli.target import api, fail, path_part

admission = typer.Typer(no_args_is_help=True, help=__doc__)
console = Console()


@admission.callback()
def _group() -> None:
    """Keeps `replay` a command of its own while it is the only one."""


@admission.command()
def replay(id_: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Judge a memory again from its stored signals alone; exit code 1 where today's rules give another verdict."""
    stored = api().call("GET", f"/engine/memories/{path_part(id_)}").get("admission")
    if stored is None:
        fail("this memory has no verdict: it was stored without one")
    verdict = Verdict.model_validate(stored)
    again = replayed(verdict)
    console.print_json(json.dumps({"same": again == verdict, "stored": stored, "replayed": _wire(again)}))
    if again != verdict:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(admission, name="admission")


def _wire(verdict: Verdict) -> dict[str, object]:
    return verdict.model_dump(mode="json", by_alias=True, exclude_none=True)
