"""The documents say what is there: routes, figures of benches, files that they point to."""

import re
from pathlib import Path

import pytest
import typer

from app import app
from chalicelib.entrypoints.admin.registry import COMMANDS
from vitto_tools.bench.__main__ import app as bench
from vitto_tools.cli.__main__ import app as vitto

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_route_is_in_the_docs_with_its_methods() -> None:
    told = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    routes = [f"`{method} {path}`" for path, methods in app.routes.items() for method in methods]
    assert [route for route in routes if route not in told] == []


def test_every_command_of_an_admin_is_in_the_docs() -> None:
    told = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`{name}`" not in told] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize(("name", "command"), [("vitto", vitto), ("bench", bench)])
def test_every_command_that_a_document_names_is_there(name: str, command: typer.Typer) -> None:
    there = typer.main.get_command(command)
    assert isinstance(there, typer.core.TyperGroup)
    told = "".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    named = set(re.findall(rf"(?:scripts/|`){name} ([a-z][a-z-]*)", told))
    assert named
    assert named - set(there.commands) == set()


def test_every_figure_that_a_bench_notes_is_explained() -> None:
    told = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for name in (
        "locomo.recall_at_10",
        "locomo.mrr",
        "locomo.adversarial.recall_at_10",
        "locomo.heldout.recall_at_10",
        "beam.core7.recall_at_10",
        "beam.core7.mrr",
        "beam.updated_above_original",
        "latency.10k.p50_ms",
        "latency.100k.p50_ms",
        "latency.growth",
        "throughput.uncached_ratio",
        "throughput.cached_ratio",
        "throughput.errors",
        "baseline.bm25.recall_at_10",
        "recall.cached.p50_ms",
        "recall.over_floor",
        "floor.p50_ms",
        "remember.10k.p50_ms",
        "remember.10k.batch_ratio",
        "remember.10k.floor_ratio",
        "prospective.off.recall_at_10",
        "prospective.on.recall_at_10",
        "context.4000.coverage",
        "baseline.last10.coverage",
        "genome.evidence_terms_over_random",
        "toon.saving",
        "scale.growth",
        "scale.redis_bytes_per_memory",
        "sizes.memory.mongo_bytes",
        "sizes.memory.redis_bytes",
        "sizes.recall.ms",
        "coldstart.import_ms",
        "coldstart.first_request_ms",
        "coldstart.total_ms",
        "coldstart.least_total_ms",
        "coldstart.cpu_ms",
        "coldstart.with_embedding_ms",
        "warm.service_ms",
        "warm.handler_over_service_ms",
    ):
        assert f"`{name}`" in told
