"""Costs: arithmetic that can be followed by hand, inputs that can be replaced, and a page that says the same."""

import dataclasses
import json
import math
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vitto_tools import costs
from vitto_tools.cli.__main__ import app
from vitto_tools.costs import Inputs, changed
from vitto_tools.costs_page import PAGE, page, tables
from vitto_tools.packaging import extras

ROOT = Path(__file__).parents[2]
TEMPLATE = extras.merged(ROOT / "infra")
NAMES = [one.name for one in dataclasses.fields(Inputs)]
ROUND = dataclasses.replace(
    Inputs(),
    gateway_request=3,
    lambda_request=0.25,
    lambda_gb_second=0.00002,
    lambda_gb=1,
    log_gb=0.5,
    log_bytes=1000,
    recall_ms=50,
    embedding_call_ms=50,
    recall_tokens=10,
    embedding_token=0.02,
    memory_mongo_bytes=4000,
    memory_redis_bytes=5000,
    recall_mongo_bytes=1000,
    index_share=0.5,
    m10_hour=0.1,
    t4g_small_hour=0.02,
)


def test_the_page_is_what_the_command_writes() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text, Inputs()) == text


def test_a_million_recalls_cost_their_requests_their_seconds_their_logs_and_their_tokens() -> None:
    parts = costs.recalls(ROUND)
    assert parts == pytest.approx({"gateway": 3, "function": 2 + 0.25 + 0.5, "embeddings": 0.2})


def test_stores_are_the_smallest_that_hold_it() -> None:
    small = costs.kept(ROUND, 100_000, 0)
    assert (small.mongo_gb, small.redis_gb) == pytest.approx((0.6, 0.5))
    assert (small.tier, small.nodes) == ("M10", "cache.t4g.small")
    assert (small.mongo_month, small.redis_month) == pytest.approx((73, 14.6))
    large = costs.kept(ROUND, 1_000_000, 0)
    assert (large.tier, large.nodes) == ("M10", "cache.r7g.large")


def test_three_months_of_recalls_are_kept_beside_the_memories() -> None:
    assert costs.kept(ROUND, 0, 1_000_000).mongo_gb == pytest.approx(3 * 1.5)


def test_what_no_node_holds_has_no_price() -> None:
    huge = costs.kept(ROUND, 100_000_000, 0)
    assert "more than" in huge.tier
    assert "more than" in huge.nodes
    assert math.isnan(huge.mongo_month)
    assert math.isnan(huge.redis_month)


@pytest.mark.parametrize("name", NAMES)
def test_every_input_counts(name: str) -> None:
    before = Inputs()
    after = changed(before, name, 2 * getattr(before, name))
    assert computed(after) != computed(before)
    assert tables(after) != tables(before)


def computed(inputs: Inputs) -> str:
    """Every figure, of stores of every size."""
    sizes = [(10_000, 10_000), (200_000, 500_000), (100_000, 1_000_000), (1_000_000, 1_000_000), (2_000_000, 4_000_000)]
    stores = [costs.kept(inputs, *size) for size in sizes]
    runs = [costs.recalls(inputs), costs.memories(inputs), costs.standing(inputs, 20), costs.network(inputs)]
    return str([stores, runs])


def test_every_tier_and_node_is_the_choice_of_some_size() -> None:
    chosen = computed(Inputs())
    assert [name for name, _ in (*costs.TIERS, *costs.NODES) if f"'{name}'" not in chosen] == []


def test_every_input_says_what_it_is_and_where_it_is_from() -> None:
    for one in dataclasses.fields(Inputs):
        assert one.metadata["kind"] in {"price", "measured", "assumed"}
        assert one.metadata["what"]
        assert getattr(Inputs(), one.name) > 0, one.name


def test_the_command_takes_ones_own_inputs() -> None:
    done = CliRunner().invoke(app, ["costs", "--set", "gateway_request=1", "--set", "embedding_token=0"])
    assert done.exit_code == 0
    assert "| gateway | 1.00 |" in done.stdout
    assert "| embeddings | 0.00 |" in done.stdout


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("gateway=1", "--set gateway: is no input"),
        ("gateway_request", "--set gateway_request: takes a number from 0, as NAME=NUMBER"),
        ("gateway_request=much", "--set gateway_request: takes a number from 0"),
        ("gateway_request=-1", "--set gateway_request: takes a number from 0"),
        ("gateway_request=nan", "--set gateway_request: takes a number from 0"),
    ],
)
def test_an_input_that_is_none_is_refused_by_name(given: str, reason: str) -> None:
    done = CliRunner().invoke(app, ["costs", "--set", given])
    assert done.exit_code == 1
    assert reason in done.stderr


def test_what_is_counted_is_what_is_deployed() -> None:
    alarms = sum(one.get("Type") == "AWS::CloudWatch::Alarm" for one in TEMPLATE["Resources"].values())
    assert f"| {alarms} alarms |" in PAGE.read_text(encoding="utf-8")
    config = json.loads((ROOT / ".chalice" / "config.json").read_text())
    assert Inputs().lambda_gb == config["lambda_memory_size"] / 1024
    pattern = TEMPLATE["Parameters"]["RedisNodeType"]["AllowedPattern"]
    assert all(re.fullmatch(pattern, name) for name, _ in costs.NODES)
    reserved = TEMPLATE["Resources"]["RedisParameters"]["Properties"]["Properties"]["reserved-memory-percent"]
    assert pytest.approx(1 - int(reserved) / 100) == costs.NODE_SHARE
    for name, _ in (*costs.NODES, *costs.TIERS):
        assert costs._hourly(Inputs(), name) > 0, name
