"""The Terraform of the stores: it parses, what it names is there, and it agrees with the template that it feeds."""

import json
import re
from pathlib import Path
from typing import Any

import hcl2
import pytest

from vitto_tools.packaging import extras

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "infra" / "terraform"
FILES = sorted(FOLDER.glob("*.tf"))
TEMPLATE = extras.merged(ROOT / "infra")
REFERENCE = re.compile(r"(?<![\w.])((?:data\.)?(?:aws|mongodbatlas|random)_\w+\.\w+|var\.\w+|local\.\w+)")


def parsed(path: Path) -> dict[str, Any]:
    """A file as its blocks."""
    with path.open(encoding="utf-8") as file:
        made: dict[str, Any] = hcl2.load(file)
    return made


def blocks(kind: str) -> dict[str, Any]:
    """The blocks of a kind in all files, by their labels."""
    found: dict[str, Any] = {}
    for path in FILES:
        for block in parsed(path).get(kind, []):
            found |= dict(_labelled("", block, depth={"resource": 2, "data": 2, "locals": 0}.get(kind, 1)))
    return found


def _labelled(name: str, block: Any, depth: int) -> list[tuple[str, Any]]:
    if depth == 0:
        return [(name, block)] if name else [(key, value) for key, value in block.items() if key != "__is_block__"]
    return [
        one
        for label, inside in block.items()
        for one in _labelled(f"{name}.{label}".strip('."').replace('"', ""), inside, depth - 1)
    ]


def said(value: Any) -> str:
    """A text without its quotes."""
    return str(value).strip('"')


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_parses(path: Path) -> None:
    assert parsed(path)


def test_every_name_that_is_used_is_declared_and_every_variable_is_used() -> None:
    declared = {f"var.{name}" for name in blocks("variable")} | {f"local.{name}" for name in blocks("locals")}
    declared |= set(blocks("resource")) | {f"data.{name}" for name in blocks("data")}
    used = {found for path in FILES for found in REFERENCE.findall(path.read_text())}
    assert used - declared == set()
    assert {name for name in declared if name.startswith(("var.", "local."))} - used == set()


def test_every_variable_and_output_says_what_it_is() -> None:
    for name, block in (blocks("variable") | blocks("output")).items():
        assert len(said(block["description"])) > 20, name
    assert all("type" in block for block in blocks("variable").values())


def test_every_provider_has_bounds_and_every_resource_a_provider() -> None:
    (terraform,) = parsed(FOLDER / "versions.tf")["terraform"]
    (providers,) = terraform["required_providers"]
    named = {name for name in providers if name != "__is_block__"}
    assert all(re.fullmatch(r">= [\d.]+, < \d+\.0", said(providers[name]["version"])) for name in named)
    assert {name.partition("_")[0] for name in (*blocks("resource"), *blocks("data"))} <= named


def test_the_secret_has_the_keys_that_the_template_refers_to() -> None:
    keys = set(re.findall(r"(\w+) = ", blocks("output")["secret"]["value"]))
    variables = json.dumps(TEMPLATE["Globals"]["Function"]["Environment"]["Variables"])
    assert keys == set(re.findall(r"\$\{Secret\}#(\w+)", variables)) - {
        "llmApiKey",
        "docsToken",
    }  # without their services
    assert blocks("output")["secret"]["sensitive"] is True


def test_secrets_are_sensitive_wherever_they_come_in_or_go_out() -> None:
    assert blocks("variable")["embedding_api_key"]["sensitive"] is True
    shown = [one["value"] for name, one in blocks("output").items() if not one.get("sensitive")]
    assert [value for value in shown if re.search(r"password|login|api_key", value)] == []


def test_the_template_has_the_parameters_that_it_is_given() -> None:
    given = re.findall(r"(\w+)=", blocks("output")["parameters"]["value"])
    assert set(given) <= TEMPLATE["Parameters"].keys()
    assert "given" in TEMPLATE["Parameters"]["Network"]["AllowedValues"]


def test_the_valkey_is_that_of_the_template() -> None:
    made, group = TEMPLATE["Resources"], blocks("resource")["aws_elasticache_replication_group.redis"]
    other = made["RedisGroup"]["Properties"]
    assert (said(group["engine"]), said(group["engine_version"])) == (other["Engine"], other["EngineVersion"])
    assert group["transit_encryption_enabled"] is group["at_rest_encryption_enabled"] is True
    parameters = blocks("resource")["aws_elasticache_parameter_group.redis"]["parameter"]
    settings = {said(one["name"]): said(one["value"]) for one in parameters}
    assert settings == made["RedisParameters"]["Properties"]["Properties"]
    size = TEMPLATE["Parameters"]["RedisNodeType"]["Default"]
    assert said(blocks("variable")["node_type"]["default"]) == size


def test_indexes_are_left_to_the_code_that_queries_them() -> None:
    assert [name for name in blocks("resource") if "search_index" in name] == []


def test_the_cluster_is_not_destroyed_with_the_rest() -> None:
    (lifecycle,) = blocks("resource")["mongodbatlas_advanced_cluster.memory"]["lifecycle"]
    assert lifecycle["prevent_destroy"] is True


def test_nothing_comes_in_but_from_the_functions() -> None:
    groups = {name: one for name, one in blocks("resource").items() if name.startswith("aws_security_group.")}
    for name, group in groups.items():
        for way in group.get("ingress", []):
            assert way["security_groups"] == ["${aws_security_group.functions.id}"], name
            assert "cidr_blocks" not in way
    assert "ingress" not in groups["aws_security_group.functions"]
