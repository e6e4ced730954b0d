"""Plugins that tests list in the setting, most of them with something wrong."""

from typing import Any

from chalicelib.plugins.hooks import Asked, hook


class Quiet:
    """Nothing is wrong with it."""

    name = "quiet"
    description = "Does nothing."

    @hook
    def before_recall(self, asked: Asked) -> None:
        """Nothing."""


class NoHooks:
    """It has none."""

    name = "no_hooks"
    description = "Has no hooks."


class UnknownHook:
    """Its hook is none of ours."""

    name = "unknown_hook"
    description = "Has a hook that there is not."

    @hook
    def before_everything(self) -> None:
        """Never called."""


class WrongArgument(Quiet):
    """Its hook takes something that is not shown."""

    name = "wrong_argument"

    @hook
    def before_recall(self, query: Any) -> None:
        """Never called."""


class Unnamed(Quiet):
    """Its name cannot be one."""

    name = "Not A Name"


class Undescribed(Quiet):
    """It says nothing of itself."""

    name = "undescribed"
    description = " "


class Disordered(Quiet):
    """Its order is none."""

    name = "disordered"
    order = "first"


class Choosy(Quiet):
    """It wants answers that there are not."""

    name = "choosy"
    answers = ("everything",)


class Impostor(Quiet):
    """Its name is taken."""

    name = "memory_versioning"


class Demanding(Quiet):
    """It cannot be made."""

    name = "demanding"

    def __init__(self, key: str) -> None:
        self.key = key
