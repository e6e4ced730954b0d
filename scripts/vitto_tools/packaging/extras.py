"""What is added to Chalice's template: the parts in `infra`, put together into the one file that Chalice merges."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vitto_tools.packaging.errors import PackageRefused

PARTS = ("template.json", "network.json", "redis.json", "alarms.json")
_DASHBOARD = "dashboard.json"


def merged(infra: Path) -> dict[str, Any]:
    """The parts as one template. PackageRefused where two of them say something else of the same."""
    whole: dict[str, Any] = {}
    for name in PARTS:
        _merge(whole, json.loads((infra / name).read_text()), name)
    body = json.loads((infra / _DASHBOARD).read_text())
    whole["Resources"]["Dashboard"]["Properties"]["DashboardBody"] = {"Fn::Sub": json.dumps(body)}
    return whole


def _merge(whole: dict[str, Any], part: Mapping[str, Any], where: str) -> None:
    for key, value in part.items():
        here = f"{where}: {key}" if ": " not in where else f"{where}.{key}"
        if key not in whole:
            whole[key] = value
        elif _is_object(value) and _is_object(whole[key]):
            _merge(whole[key], value, here)
        elif value != whole[key]:
            raise PackageRefused(f"infra/{here} is said by an earlier part too, and otherwise")


def _is_object(value: Any) -> bool:
    """Whether it has members of its own, and is no function of CloudFormation's, which stands for one value."""
    return isinstance(value, dict) and not any(key == "Ref" or key.startswith("Fn::") for key in value)
