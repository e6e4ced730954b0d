"""Plugins of the operator come from an explicit list, and one that is wrong stops the start by its name."""

import pytest

from chalicelib.bootstrap import Container
from chalicelib.errors import Misconfigured
from chalicelib.plugins.registry import load
from chalicelib.settings import PluginSettings, Settings
from tests.building import in_memory_ports

LISTED = "tests.unit.listed_plugins"


def started(listed: str) -> Container:
    """The product with that setting."""
    return Container(Settings(plugins=PluginSettings(listed=listed)), in_memory_ports())


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (f"{LISTED}:NoHooks", "NoHooks: it has no hooks"),
        (f"{LISTED}:UnknownHook", "UnknownHook: .*before_everything"),
        (f"{LISTED}:WrongArgument", "WrongArgument: .*query"),
        (f"{LISTED}:Unnamed", "Unnamed: its name must be"),
        (f"{LISTED}:Undescribed", "Undescribed: it needs a description"),
        (f"{LISTED}:Disordered", "Disordered: order must be an int"),
        (f"{LISTED}:Choosy", "Choosy: answers must be"),
        (f"{LISTED}:Impostor", "Impostor: the name memory_versioning is taken"),
        (f"{LISTED}:Quiet,{LISTED}:Quiet", "Quiet: the name quiet is taken"),
        (f"{LISTED}:Demanding", f"{LISTED}:Demanding: cannot be loaded: TypeError"),
        (f"{LISTED}:Missing", f"{LISTED}:Missing: cannot be loaded: AttributeError"),
        ("no.such.module:Plugin", "no.such.module:Plugin: cannot be loaded: ModuleNotFoundError"),
        (LISTED, f"{LISTED}: must be package.module:PluginClass"),
        (":Quiet", ":Quiet: must be package.module:PluginClass"),
    ],
)
def test_a_plugin_that_is_wrong_stops_the_start_and_is_named(listed: str, said: str) -> None:
    with pytest.raises(Misconfigured, match=f"VITTO_PLUGINS: {said}"):
        started(listed)


def test_blanks_between_entries_are_nothing() -> None:
    assert [plugin.name for plugin in load(f" , {LISTED}:Quiet ,")] == ["quiet"]
    assert load("") == []
