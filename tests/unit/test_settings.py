"""A setting that is wrong stops the service by its name, and every setting is in the docs."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from chalicelib.errors import Misconfigured
from chalicelib.settings import NOT_SETTINGS, Settings

DOCS = Path(__file__).parents[2] / "docs" / "settings.md"
TABLE = list(Settings.table())
NUMBERS = [(variable, info) for _, _, variable, info in TABLE if info.annotation in {int, float}]


def test_without_an_environment_every_setting_has_its_default() -> None:
    assert Settings.from_environment({}) == Settings()


def test_a_setting_is_read_from_its_variable() -> None:
    read = Settings.from_environment(
        {"VITTO_MONGO_URI": "mongodb://db", "VITTO_MONGO_POOL_SIZE": "3", "VITTO_REDIS_SECONDS": "0.5", "HOME": "/root"}
    )
    assert (read.mongo.uri, read.mongo.pool_size, read.redis.seconds) == ("mongodb://db", 3, 0.5)


@pytest.mark.parametrize("name", ["VITTO_MONGO_URL", "VITTO_", "VITTO_RECALL_CANDIDATE", "VITTO_mongo_uri"])
def test_a_variable_that_is_not_known_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(Misconfigured, match=name):
        Settings.from_environment({"VITTO_MONGO_URI": "mongodb://db", name: "x"})


@pytest.mark.parametrize("name", sorted(NOT_SETTINGS))
def test_a_variable_of_the_command_line_is_left_alone(name: str) -> None:
    assert Settings.from_environment({name: "x"}) == Settings()


@pytest.mark.parametrize("variable", [variable for variable, _ in NUMBERS])
@pytest.mark.parametrize("value", ["", "many", "-1", "1e99", "nan", "inf"])
def test_a_value_that_is_wrong_is_refused_by_the_name_of_its_variable(variable: str, value: str) -> None:
    with pytest.raises(Misconfigured, match=variable):
        Settings.from_environment({variable: value})


def test_a_value_that_is_wrong_is_not_repeated() -> None:
    with pytest.raises(Misconfigured) as refused:
        Settings.from_environment({"VITTO_MONGO_POOL_SIZE": "hunter22"})
    assert "hunter22" not in refused.value.message


def test_authentication_cannot_be_switched_off() -> None:
    named = {variable for _, _, variable, info in TABLE if "AUTH" in variable or info.annotation is bool}
    switches = {
        "VITTO_EMBEDDING_USE_DUAL_INDEX",
        "VITTO_RECALL_PROSPECTIVE",
        "VITTO_RECALL_USE_NAMES_OUT",
        "VITTO_RECALL_USE_SURROUNDINGS",
        "VITTO_RECALL_USE_SPEAKERS",
        "VITTO_RECALL_USE_TIMES",
        "VITTO_RECALL_USE_USER_OVER_ASSISTANT",
    }  # none of which has to do with who may come in
    assert named == {"VITTO_AUTH_ISSUERS", "VITTO_AUTH_KEY_CACHE_SECONDS"} | switches


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Settings().mongo.pool_size = 5  # type: ignore[misc]


@pytest.mark.parametrize(("slice_name", "field", "variable", "info"), TABLE, ids=[row[2] for row in TABLE])
def test_every_default_is_within_its_own_bounds_and_every_setting_is_described(
    slice_name: str, field: str, variable: str, info: Any
) -> None:
    assert variable.startswith("VITTO_")
    assert info.description
    assert getattr(getattr(Settings.from_environment({variable: str(info.default)}), slice_name), field) == info.default


def test_no_two_settings_share_a_variable() -> None:
    assert len({variable for _, _, variable, _ in TABLE}) == len(TABLE)


def documented(variable: str, default: object) -> bool:
    """Whether the docs have a table row of the variable with a cell that is its default."""
    rows = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if f"`{variable}`" in line]
    cells = {cell.strip().strip("`") for row in rows for cell in row.split("|")}
    spellings = {"empty", '""', "none", "—"} if default == "" else {str(default)}
    if isinstance(default, float):
        spellings.add(f"{default:g}")
    return bool(spellings & cells)


def test_every_setting_is_in_the_docs_with_its_default() -> None:
    assert [variable for _, _, variable, info in TABLE if not documented(variable, info.default)] == []


def test_the_docs_list_no_setting_that_is_gone() -> None:
    named = set(re.findall(r"`(VITTO_\w+)`", DOCS.read_text(encoding="utf-8")))
    assert named <= {row[2] for row in TABLE} | NOT_SETTINGS
