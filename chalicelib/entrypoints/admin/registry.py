"""All commands. One more is an entry in the tuple of its module: the deployed function, `vitto admin` and its help know it
by that."""

from typing import Any

from chalicelib.entrypoints.admin import keys, leaving, stores, upkeep
from chalicelib.entrypoints.admin.commands import Command

COMMANDS: dict[str, Command[Any]] = {
    command.name: command for command in (*upkeep.COMMANDS, *stores.COMMANDS, *leaving.COMMANDS, *keys.COMMANDS)
}
