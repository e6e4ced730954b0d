"""The `vitto` command: everything an admin or a developer does from a terminal."""

import typer

from chalicelib.adapters.telemetry import say_on_stderr
from chalicelib.errors import VittoError
from vitto_tools.cli import (
    admin,
    administration,
    admission,
    backfill,
    contract,
    costs,
    importing,
    maintenance,
    memories,
    migrate,
    queue,
    review,
)
from vitto_tools.cli.target import fail

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
for module in (
    memories,
    review,
    importing,
    maintenance,
    backfill,
    migrate,
    queue,
    admission,
    administration,
    admin,
    contract,
    costs,
):
    module.register(app)


def main() -> None:
    """Run a command; an error of the product ends it with its message."""
    say_on_stderr()
    try:
        app(prog_name="vitto")
    except VittoError as error:
        try:
            fail(error.message)
        except typer.Exit as exit_:
            raise SystemExit(exit_.exit_code) from None


if __name__ == "__main__":
    main()
