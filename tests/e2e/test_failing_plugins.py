"""Plugins that sleep, raise or talk nonsense, over HTTP: the request succeeds, and its answer names each of them."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.plugins.hooks import Answered, Answering, Asked, Candidate, Consolidating, hook
from chalicelib.settings import PluginSettings, RecallSettings, Settings
from tests.building import row
from tests.e2e.client import Api
from tests.e2e.conftest import Serve

SETTINGS = Settings(recall=RecallSettings(seconds=28), plugins=PluginSettings(before_seconds=2, after_seconds=2))
"""So long that on a busy machine none but the one that sleeps is cut."""
OUTCOMES = {"sleeps": "cut", "raises": "raised", "talks": "invalid"}


@dataclass
class Bad:
    """A plugin that does at its hooks what it is told to."""

    name: str
    act: Callable[[], Any]
    description = "Misbehaves."


class AtRecall(Bad):
    """Before a recall and its answer."""

    @hook
    def before_recall(self, asked: Asked) -> Any:  # noqa: ARG002 - the hook's form
        """Misbehave."""
        return self.act()

    @hook
    def before_response(self, answer: Answering) -> Any:  # noqa: ARG002 - the hook's form
        """Misbehave."""
        return self.act()


class AtAdmission(Bad):
    """On admission."""

    @hook
    def on_memory_admission(self, candidate: Candidate) -> Any:  # noqa: ARG002 - the hook's form
        """Misbehave."""
        return self.act()


class AtConsolidation(Bad):
    """On consolidation."""

    @hook
    def on_consolidation(self, consolidating: Consolidating) -> Any:  # noqa: ARG002 - the hook's form
        """Misbehave."""
        return self.act()


class Afterwards(Bad):
    """After a response."""

    @hook
    def after_response(self, answered: Answered) -> Any:  # noqa: ARG002 - the hook's form
        """Misbehave."""
        return self.act()


Started = Callable[[type[Bad]], Api]


@pytest.fixture
def start(serve: Serve) -> Iterator[Started]:
    """Starts the application with one of each kind; the one that sleeps does so until the test is over."""
    over = threading.Event()

    def started(kind: type[Bad]) -> Api:
        plugins = (
            kind("sleeps", lambda: over.wait(60)),
            kind("raises", lambda: 1 / 0),
            kind("talks", lambda: "nonsense"),
        )
        return serve(SETTINGS, plugins)

    yield started
    over.set()


def named(answer: dict[str, Any], hook_name: str) -> dict[str, str]:
    """What became of each plugin at a hook, as an answer or a receipt says it, each with its reason."""
    reports = [each for each in answer["plugins"] if each["hook"] == hook_name]
    assert all(each["reason"] for each in reports)
    return {each["name"]: each["outcome"] for each in reports}


def test_a_recall_succeeds_and_names_them(start: Started) -> None:
    api = start(AtRecall)
    made = row("Ana lives in Porto", org_id=api.org)
    api.services.ports.store.insert([made])
    api.services.indexer.publish([made])
    answer = api.user("ana").answer("where does Ana live?")
    assert [hit["memory"]["content"] for hit in answer["hits"]] == ["Ana lives in Porto"]
    assert named(answer, "before_recall") == OUTCOMES
    assert named(answer, "before_response") == OUTCOMES


def test_a_remember_succeeds_names_them_and_lets_nothing_in_unjudged(start: Started) -> None:
    ana = start(AtAdmission).user("ana")
    receipt = ana.receipt("Ana lives in Porto")
    assert named(receipt, "on_memory_admission") == OUTCOMES
    assert (receipt["outcome"], receipt["status"]) == ("quarantined", "quarantined")
    assert receipt["reason"] == "a plugin could not judge it: raises, sleeps"
    assert ana.read(receipt["id"])["quarantineReason"] == "plugin"
    assert ana.recalled("where does Ana live?") == []


def test_a_correction_is_consolidated_all_the_same_and_names_them(start: Started) -> None:
    ana = start(AtConsolidation).user("ana")
    ana.remember("Ana lives in Porto")
    receipt = ana.receipt("Ana moved to Lisbon")
    assert named(receipt, "on_consolidation") == OUTCOMES
    assert receipt["outcome"] == "superseded"
    assert ana.recalled("where does Ana live?") == ["Ana moved to Lisbon"]


def test_after_a_response_they_are_events_and_no_answer_waits_for_them(
    start: Started, telemetry: RecordedTelemetry
) -> None:
    api = start(Afterwards)
    ana = api.user("ana")
    assert ana.receipt("Ana lives in Porto")["outcome"] == "stored"
    assert ana.answer("where does Ana live?")["plugins"] == []
    api.services.after_response.settle()
    said = {(name, fields["plugin"]) for name, fields in telemetry.events if name.startswith("plugin_")}
    assert said == {("plugin_cut", "sleeps"), ("plugin_raised", "raises")}
