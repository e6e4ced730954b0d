"""What a deployment costs, from list prices and measured sizes: pure arithmetic over one table of inputs.

Each input says where it comes from; `vitto costs` recomputes the tables of docs/costs.md with others in their place.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

MILLION, GIGABYTE, HOURS = 1_000_000, 1e9, 730  # hours of a month
NODES = (("cache.t4g.small", 1.37), ("cache.t4g.medium", 3.09), ("cache.r7g.large", 13.07), ("cache.r7g.xlarge", 26.32))
"""Node types of ElastiCache and their memory in GiB, the smallest first."""
NODE_SHARE = 0.7  # infra/redis.json reserves 30 %
TIERS = (("M10", 10), ("M20", 20), ("M30", 40), ("M40", 80), ("M50", 160))
"""Tiers of Atlas and the storage in GB that their price includes, the smallest first."""


def _price(default: float, what: str) -> Any:
    return field(default=default, metadata={"kind": "price", "what": what})


def _measured(default: float, what: str) -> Any:
    return field(default=default, metadata={"kind": "measured", "what": what})


def _assumed(default: float, what: str) -> Any:
    return field(default=default, metadata={"kind": "assumed", "what": what})


@dataclass(frozen=True)
class Inputs:
    """Dollars, bytes, milliseconds and tokens."""

    gateway_request: float = _price(3.50, "API Gateway REST, a million requests")
    lambda_request: float = _price(0.20, "Lambda, a million requests")
    lambda_gb_second: float = _price(0.0000166667, "Lambda on x86_64, a GB and second")
    sqs_request: float = _price(0.40, "SQS, a million requests")
    log_gb: float = _price(0.50, "CloudWatch, a GB of logs")
    alarm_month: float = _price(0.10, "CloudWatch, an alarm and month")
    dashboard_month: float = _price(3.00, "CloudWatch, a dashboard and month")
    metric_month: float = _price(0.30, "CloudWatch, a metric and month")
    secret_month: float = _price(0.40, "Secrets Manager, a secret and month")
    nat_hour: float = _price(0.045, "NAT gateway, an hour (`Network=made`)")
    endpoint_hour: float = _price(0.01, "Interface endpoint, an hour and zone (`Egress=endpoints`)")
    embedding_token: float = _price(0.02, "text-embedding-3-small, a million tokens")
    t4g_small_hour: float = _price(0.0256, "ElastiCache for Valkey, cache.t4g.small, an hour")
    t4g_medium_hour: float = _price(0.0520, "cache.t4g.medium, an hour")
    r7g_large_hour: float = _price(0.1752, "cache.r7g.large, an hour")
    r7g_xlarge_hour: float = _price(0.3496, "cache.r7g.xlarge, an hour")
    m10_hour: float = _price(0.08, "Atlas on AWS, M10 with 10 GB, an hour")
    m20_hour: float = _price(0.20, "M20 with 20 GB, an hour")
    m30_hour: float = _price(0.54, "M30 with 40 GB, an hour")
    m40_hour: float = _price(1.04, "M40 with 80 GB, an hour")
    m50_hour: float = _price(2.00, "M50 with 160 GB, an hour")
    memory_mongo_bytes: float = _measured(9261, "bytes that a memory has in MongoDB with its questions, as BSON")
    memory_redis_bytes: float = _measured(9742, "bytes that it has in Redis with them")
    memory_tokens: float = _measured(44.2, "tokens of a memory")
    question_tokens: float = _measured(47.9, "tokens of all its questions")
    remember_ms: float = _measured(202, "to remember one, in a batch, embedding left out")
    questions_ms: float = _measured(259, "to write and index its questions, embedding left out")
    recall_ms: float = _measured(125, "a recall that no cache answers, p50, embedding left out")
    recall_tokens: float = _measured(9.5, "tokens of a question")
    recall_mongo_bytes: float = _measured(6461, "bytes that a recall has in the audit, which keeps it 90 days")
    lambda_gb: float = _assumed(1.0, "memory of a function, as `.chalice/config.json` has it")
    embedding_call_ms: float = _assumed(200, "waiting for the embedding server, a call")
    log_bytes: float = _assumed(500, "logs of a run: what Lambda itself writes")
    retry_ms: float = _assumed(300, "a run of `retry_pending` with nothing to do; one a minute")
    metrics: float = _assumed(30, "metrics of the product that had an event in a month")
    index_share: float = _assumed(0.5, "MongoDB's indexes, as a share of the documents; compression not counted")


def changed(inputs: Inputs, name: str, value: float) -> Inputs:
    """The inputs with one of them replaced. KeyError names one that is none; ValueError a value below zero."""
    if name not in {one.name for one in dataclasses.fields(inputs)}:
        raise KeyError(name)
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} is {value}; it has to be a number from 0")
    return dataclasses.replace(inputs, **{name: value})


def run_costs(inputs: Inputs, milliseconds: float) -> float:
    """A million runs of a function that take so long, with their logs."""
    compute = MILLION * milliseconds / 1000 * inputs.lambda_gb * inputs.lambda_gb_second
    return compute + inputs.lambda_request + MILLION * inputs.log_bytes / GIGABYTE * inputs.log_gb


def recalls(inputs: Inputs) -> dict[str, float]:
    """Dollars for a million recalls over HTTP that no cache answers."""
    return {
        "gateway": inputs.gateway_request,
        "function": run_costs(inputs, inputs.recall_ms + inputs.embedding_call_ms),
        "embeddings": inputs.recall_tokens * inputs.embedding_token,
    }


def memories(inputs: Inputs) -> dict[str, float]:
    """Dollars for remembering a million, a request each."""
    return {
        "gateway": inputs.gateway_request,
        "function": run_costs(inputs, inputs.remember_ms + inputs.embedding_call_ms),
        "queue": 3 * inputs.sqs_request,  # sent, received, deleted
        "worker": run_costs(inputs, inputs.questions_ms + inputs.embedding_call_ms),
        "embeddings": (inputs.memory_tokens + inputs.question_tokens) * inputs.embedding_token,
    }


@dataclass(frozen=True)
class Kept:
    """What keeping so many memories takes: gigabytes, and dollars a month."""

    memories: int
    mongo_gb: float
    tier: str
    mongo_month: float
    redis_gb: float
    nodes: str
    redis_month: float


def kept(inputs: Inputs, count: int, recalls_a_month: int) -> Kept:
    """So many memories, with the audit of so many recalls a month."""
    documents = count * inputs.memory_mongo_bytes + 3 * recalls_a_month * inputs.recall_mongo_bytes
    mongo_gb = documents * (1 + inputs.index_share) / GIGABYTE
    tier = next((name for name, holds in TIERS if holds >= mongo_gb), TIERS[-1][0])
    redis_gb = count * inputs.memory_redis_bytes / GIGABYTE
    usable = [(name, gib * 1.0737 * NODE_SHARE) for name, gib in NODES]
    node = next((name for name, holds in usable if holds >= redis_gb), usable[-1][0])
    if redis_gb > usable[-1][1]:
        node = "more than cache.r7g.xlarge"
    if mongo_gb > TIERS[-1][1]:
        tier = "more than M50"
    return Kept(count, mongo_gb, tier, _hourly(inputs, tier), redis_gb, node, _hourly(inputs, node))


def _hourly(inputs: Inputs, name: str) -> float:
    """Dollars a month of a node or tier; not a number where none of the table is large enough."""
    key = f"{name.removeprefix('cache.').replace('.', '_').lower()}_hour"
    return HOURS * float(getattr(inputs, key, float("nan")))


def standing(inputs: Inputs, alarms: int) -> dict[str, float]:
    """Dollars a month whatever is asked, stores and network left out."""
    runs = HOURS * 60
    return {
        "`retry_pending`, each minute": runs / MILLION * run_costs(inputs, inputs.retry_ms),
        f"{alarms} alarms": alarms * inputs.alarm_month,
        "dashboard": inputs.dashboard_month,
        "metrics": inputs.metrics * inputs.metric_month,
        "secret": inputs.secret_month,
    }


def network(inputs: Inputs) -> dict[str, float]:
    """Dollars a month of a network of the stack's own, by its way out."""
    return {"NAT gateway": HOURS * inputs.nat_hour, "two endpoints in two zones": HOURS * 4 * inputs.endpoint_hour}
