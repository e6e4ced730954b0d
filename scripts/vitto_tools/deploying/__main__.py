"""`scripts/deploy STAGE` and `scripts/destroy STAGE`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from vitto_tools.deploying.account import STACK, Account
from vitto_tools.deploying.deploy import Wanted
from vitto_tools.deploying.deploy import deploy as deploy_stage
from vitto_tools.deploying.destroy import destroy as destroy_stage
from vitto_tools.deploying.errors import DeployFailed
from vitto_tools.deploying.preparing import parameters_of, refuse_odd_stage
from vitto_tools.deploying.stack import Say
from vitto_tools.local.servers import ROOT
from vitto_tools.packaging.build import PackageRefused, build, stages

LIKE = "dev"
"""Whose configuration a stage has that `.chalice/config.json` does not declare."""
OUT = ROOT / ".vitto" / "package"
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
_Stage = Annotated[str, typer.Argument(help="Any name; each stage is a stack of its own.")]
_Region = Annotated[str | None, typer.Option(help="AWS_REGION without it.")]
_Bucket = Annotated[
    str | None, typer.Option(help="For packages; vitto-memory-ACCOUNT-REGION without it, made when missing.")
]


@app.command()
def deploy(
    stage: _Stage,
    region: _Region = None,
    bucket: _Bucket = None,
    parameter: Annotated[list[str] | None, typer.Option(help="Key=Value of the template; may be repeated.")] = None,
    parameters: Annotated[Path | None, typer.Option(help="A JSON file of such parameters.")] = None,
    like: Annotated[str, typer.Option(help="Whose configuration a stage has that is not declared.")] = LIKE,
    package: Annotated[Path | None, typer.Option(help="What scripts/package wrote there, instead of building.")] = None,
    url: Annotated[str | None, typer.Option(help="Smoke-test this address, such as a domain of yours.")] = None,
    check_secret: Annotated[
        bool, typer.Option(help="See first that the secret holds the keys that are needed.")
    ] = True,
    migrate: Annotated[bool, typer.Option(help="Migrate rows of before.")] = True,
    smoke: Annotated[bool, typer.Option(help="Smoke-test the API.")] = True,
) -> None:
    """Package, upload, apply the stack, make indexes, migrate, smoke-test."""
    say = _timed("deploy")
    try:
        refuse_odd_stage(stage)
        given = parameters_of(parameter or [], parameters)
        account = Account.here(region)
        say(f"account {account.id}, region {account.region}, as {account.arn}")
        built = package or _built(stage, like, say)
        wanted = Wanted(stage, built, given, bucket, url, check_secret, migrate, smoke)
        for line in deploy_stage(account, wanted, say):
            typer.echo(line)
    except (DeployFailed, PackageRefused) as error:
        _end("deploy", error)


def _built(stage: str, like: str, say: Say) -> Path:
    if stage not in stages(ROOT):
        say(f"stage {stage} is not in .chalice/config.json: it is configured as {like} is")
    return build(ROOT, stage, OUT / stage, say, like=like).archive.parent


@app.command()
def destroy(
    stage: _Stage,
    region: _Region = None,
    bucket: _Bucket = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a stage's stack, and say what stays."""
    try:
        refuse_odd_stage(stage)
        account = Account.here(region)
        named = f"{STACK.format(stage=stage)} in account {account.id}, {account.region}"
        if not yes:
            _ask(f"This deletes {named}. Type the stage's name to go on", stage)
        for line in destroy_stage(account, stage, _timed("destroy"), bucket):
            typer.echo(line)
    except DeployFailed as error:
        _end("destroy", error)


def _ask(question: str, wanted: str) -> None:
    if typer.prompt(question) != wanted:
        raise DeployFailed("that is not the stage's name; nothing was deleted")


def _timed(name: str) -> Say:
    """Says each step on stderr, with the seconds since the start."""
    began = time.monotonic()
    return lambda line: typer.echo(f"{name}: {line} ({time.monotonic() - began:.0f} s)", err=True)


def _end(name: str, error: Exception) -> None:
    typer.secho(f"{name}: {error}", err=True, fg=typer.colors.RED)
    raise typer.Exit(1) from None


if __name__ == "__main__":
    app(prog_name="scripts")
