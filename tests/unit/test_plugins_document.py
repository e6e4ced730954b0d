"""The example of docs/plugins.md works as it stands there, and the document tells of every hook, outcome and plugin."""

import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.plugins import HookName, PluginOutcome
from chalicelib.domain.query import RecallQuery
from chalicelib.settings import PluginSettings, Settings
from chalicelib.write.hooks import AdmissionHooks
from tests.building import caller, in_memory_ports, memory

DOCUMENT = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
ANA = caller(spaces=("releases",))


@pytest.fixture
def services() -> Iterator[Container]:
    """The product with the plugin of the document, listed as the document says."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    (listed,) = re.findall(r'VITTO_PLUGINS="([^"]+)"', DOCUMENT)
    module = types.ModuleType(listed.split(":")[0])
    exec(compile(code, "docs/plugins.md", "exec"), module.__dict__)
    sys.modules[module.__name__] = module
    try:
        settings = Settings(plugins=PluginSettings(listed=listed, before_seconds=5))
        yield Container(settings, in_memory_ports())
    finally:
        del sys.modules[module.__name__]


def test_the_example_narrows_annotates_and_decides(services: Container) -> None:
    items = [
        {"content": "the release is on Friday", "type": "decision", "scope": "space", "scopeId": "releases"},
        {"content": "the release was talked about on Friday", "scope": "space", "scopeId": "releases"},
        {"content": "Ana asks for the release on Friday"},
    ]
    receipts = services.remember.remember(ANA, [*items], key=None, single=False)
    assert [receipt["outcome"] for receipt in receipts] == ["stored", "quarantined", "stored"]
    assert receipts[1]["reason"] == "the plugin release_freeze decided so: only decisions are kept here"
    narrowed = services.recall.recall(ANA, RecallQuery(query="when is the release?", scope_ids=("releases",)))
    (hit,) = narrowed["hits"]
    assert hit["memory"]["type"] == "decision"
    assert hit["notes"] == {"release_freeze": "a decision of the releases"}
    assert [(each["hook"], each["outcome"]) for each in narrowed["plugins"]] == [
        ("before_recall", "changed"),
        ("before_response", "changed"),
    ]
    assert len(services.recall.recall(ANA, RecallQuery(query="when is the release?"))["hits"]) == 2
    hooks = AdmissionHooks(services.plugins)
    decisions = [
        hooks.decide(ANA, memory(scope="space", scope_id="releases", type=kind), None) for kind in ("fact", "decision")
    ]
    assert [(each.action, each.reason) for each in decisions] == [
        ("quarantine", "only decisions are kept here"),
        ("admit", None),
    ]


def test_the_document_tells_of_every_hook_every_outcome_and_every_plugin() -> None:
    names = [each.plugin.name for each in Container(Settings(), in_memory_ports()).plugins.standings("acme")]
    assert [word for word in (*HookName, *PluginOutcome, *names) if f"`{word}`" not in DOCUMENT] == []
