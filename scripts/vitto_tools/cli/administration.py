"""`vitto keys`: API keys, made with the store's own credentials; so the first admin of an organization gets in."""

import json
from datetime import timedelta
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from chalicelib.domain.caller import Role
from chalicelib.entrypoints.auth.api_keys import mint
from vitto_tools.cli.target import fail, services

keys = typer.Typer(no_args_is_help=True, help=__doc__)
console = Console()
Organization = Annotated[str, typer.Option("--organization", help="Whose keys.")]


@keys.command()
def create(
    organization: Organization,
    user: Annotated[str, typer.Option(help="Whom the key stands for.")],
    role: Annotated[list[Role], typer.Option(help="May be repeated.")],
    name: Annotated[str, typer.Option(help="What it is for.")] = "made by vitto keys create",
    space: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    universe: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    act_as: Annotated[bool, typer.Option(help="May act for users of the organization by Vitto-User.")] = False,
    days: Annotated[int | None, typer.Option(min=1, help="Days until it expires; without, it does not.")] = None,
) -> None:
    """Make a key and print it, once."""
    made = services()
    now = made.ports.clock()
    stored, shown = mint(
        org_id=organization,
        name=name,
        user_id=user,
        roles=tuple(role),
        spaces=tuple(space or ()),
        universes=tuple(universe or ()),
        act_as=act_as,
        expires_at=now + timedelta(days=days) if days else None,
        now=now,
        created_by="vitto keys create",
    )
    made.ports.keys.add(stored)
    print(shown)


@keys.command("list")
def list_(organization: Organization) -> None:
    """List an organization's keys, without their secrets."""
    table = Table(
        Column("id", overflow="fold"), "name", "user", "roles", "expires", "revoked", box=None, header_style="bold"
    )
    store, cursor = services().ports.keys, None
    while True:
        page = store.list(organization, cursor, 200)
        for key in page.items:
            table.add_row(
                key.id,
                key.name,
                key.user_id,
                ", ".join(key.roles),
                str(key.expires_at or ""),
                str(key.revoked_at or ""),
            )
        if (cursor := page.cursor) is None:
            break
    console.print(table)


@keys.command()
def revoke(organization: Organization, id_: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Revoke a key; processes that verified it trust it for at most a minute more."""
    made = services()
    if not made.ports.keys.revoke(organization, id_, made.ports.clock()):
        fail("no such key in this organization")
    console.print_json(json.dumps({"id": id_, "revoked": True}))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(keys, name="keys")
