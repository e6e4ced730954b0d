"""`vitto admin`: what is done with the stores' own credentials, on a deployed stage or in this process.

Each command of the registry is a command here, with its arguments as options."""

import inspect
import json
import re
import time
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, get_args, get_origin

import typer
from pydantic.fields import FieldInfo
from rich.console import Console

from chalicelib.bootstrap import Container
from chalicelib.entrypoints.admin.commands import Command
from chalicelib.entrypoints.admin.registry import COMMANDS
from chalicelib.entrypoints.admin.running import LONGEST_SECONDS, performed, request_of
from chalicelib.errors import VittoError
from vitto_tools.cli.target import fail, services
from vitto_tools.deploying.account import Account
from vitto_tools.deploying.errors import DeployFailed
from vitto_tools.deploying.invoking import Invoker, LambdaInvoker, Object, follow

admin = typer.Typer(no_args_is_help=True, help=__doc__)
progress_console = Console(stderr=True)
SECONDS = 20.0
_Stage = Annotated[str | None, typer.Option(help="Of this deployed stage; without it, in this process.")]
_Region = Annotated[str | None, typer.Option(help="Where the stage is; AWS_REGION without it.")]
_Seconds = Annotated[float, typer.Option(min=1, max=LONGEST_SECONDS, help="Say how far it is this often.")]
_OWN = {"stage": (_Stage, None), "region": (_Region, None), "seconds": (_Seconds, SECONDS)}


class InProcess:
    """`Invoker` for the stores that the settings name."""

    def __init__(self, made: Container) -> None:
        self._services = made

    def invoke(self, payload: Object) -> Object:
        try:
            request = request_of(payload)
            until = time.monotonic() + request.seconds
            return performed(self._services, request, lambda: time.monotonic() > until)
        except VittoError as error:
            return {"error": {"code": error.code, "message": error.message, "details": error.details}}


def invoker_of(stage: str | None, region: str | None) -> Invoker:
    """What runs commands: the function of a stage, or this process."""
    return LambdaInvoker(Account.here(region), stage) if stage else InProcess(services())


def run(command: str, arguments: Object, stage: str | None, region: str | None, seconds: float) -> None:
    """Run a command to its end: what it gives out as lines of JSON, how far it is on stderr, what came of it last."""
    answer: Object = {}
    try:
        for answer in follow(invoker_of(stage, region), command, arguments, seconds):
            for line in answer["output"]:
                print(json.dumps(line, ensure_ascii=False))
            if not answer["finished"]:
                progress_console.print(f"{command}: {told(answer['progress'])}", highlight=False, markup=False)
    except DeployFailed as error:
        fail(str(error))
    print(json.dumps(answer["progress"], ensure_ascii=False))
    if answer["failed"]:
        raise typer.Exit(1)


def told(progress: Object) -> str:
    """Progress on one line, without what is no number or name."""
    return ", ".join(f"{name} {value}" for name, value in progress.items() if not isinstance(value, dict | list))


def _asked(command: Command[Any]) -> Callable[..., None]:
    """The command as a function whose parameters are the options, which typer reads from its signature."""
    fields = command.arguments.model_fields

    def asked(**given: Any) -> None:
        own = {name: given.pop(name) for name in _OWN}
        wanted = {fields[name].alias or name: _plain(value) for name, value in given.items() if value is not None}
        run(command.name, wanted, **own)

    parameters = [_parameter(name, field) for name, field in fields.items()]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in _OWN.items()
    ]
    asked.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    asked.__annotations__ = {one.name: one.annotation for one in parameters}
    asked.__doc__ = command.does
    return asked


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    """A flag, a list or a value, as the field is one. What is left out is left to the command's own default."""
    kind: Any = field.annotation
    option = f"--{re.sub('_', '-', name)}"
    if get_origin(kind) is tuple:
        kind = list[get_args(kind)[0]]  # type: ignore[misc]
    default: Any = inspect.Parameter.empty if field.is_required() else None
    wanted = kind if field.is_required() else kind | None
    info = typer.Option(option, help=field.description)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[wanted, info], default=default)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.value if isinstance(value, Enum) else value


for _command in COMMANDS.values():
    admin.command(_command.name)(_asked(_command))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(admin, name="admin")
