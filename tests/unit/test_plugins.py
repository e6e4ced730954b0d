"""A plugin takes part where its hook stands, in order, on copies; a bad one is left out, named, and harms no request."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.budget import budget, failure_of, note_failure, time_left
from chalicelib.domain.plugins import HookName, PluginOutcome, PluginReport
from chalicelib.domain.query import RecallQuery
from chalicelib.errors import InvalidInput, StoreUnavailable
from chalicelib.plugins.hooks import Asked, Identity, hook
from chalicelib.plugins.isolation import CUTS, THREADS
from chalicelib.plugins.manager import NotAllowed, Plugins, given
from chalicelib.plugins.registry import Registry
from chalicelib.plugins.switches import Switchboard
from chalicelib.settings import PluginSettings, Settings
from tests.building import TestClock, caller, in_memory_ports

ANA = caller()
PATIENT, HASTY = PluginSettings(before_seconds=5, after_seconds=5), PluginSettings(before_seconds=0.02)
QUERY = RecallQuery(query="where does Ana live?", limit=10)


class Limits:
    """A plugin that lowers the limit by one and notes what it saw."""

    description = "Lowers the limit."

    def __init__(self, name: str = "limits", order: int = 100) -> None:
        self.name = name
        self.order = order
        self.seen: list[int] = []

    @hook
    def before_recall(self, asked: Asked) -> RecallQuery:
        """One result fewer."""
        limit = asked.query.limit
        assert limit
        self.seen.append(limit)
        return asked.query.model_copy(update={"limit": limit - 1})


class Acting(Limits):
    """A plugin that does something at its hook."""

    def __init__(self, act: Callable[[Asked], Any], name: str = "acting", order: int = 100) -> None:
        super().__init__(name, order)
        self.act = act

    @hook
    def before_recall(self, asked: Asked) -> Any:
        """Whatever the test wants."""
        return self.act(asked)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What hanging plugins wait for; it opens at the end."""
    event = threading.Event()
    yield event
    event.set()


class Bench:
    """Plugins over twins, and a run of them at one hook."""

    def __init__(self, *plugins: Any, settings: PluginSettings = PATIENT, built_in: tuple[Any, ...] = ()) -> None:
        self.ports = in_memory_ports()
        self.clock = TestClock()
        self.now = 0.0
        self.switchboard = Switchboard(self.ports.switches, self.clock, self.ports.telemetry)
        registry = Registry(built_in, plugins)
        self.plugins = Plugins(registry, self.switchboard, self.ports.telemetry, settings, lambda: self.now)

    def run(self, org: str = "acme") -> tuple[int, list[tuple[str, str]]]:
        """The limit that comes out, and what was reported: name and outcome."""
        query, reports = self.plugins.run(
            HookName.BEFORE_RECALL,
            org,
            QUERY,
            show=lambda state: Asked(caller=Identity.of(ANA), query=state),
            accept=lambda state, value, _: state if value == state else given(RecallQuery, value),
        )
        return query.limit or 0, [(report.name, report.outcome.value) for report in reports]

    def allow(self, settings: PluginSettings) -> None:
        """Give plugins another time limit."""
        self.plugins._settings = settings

    @property
    def events(self) -> list[str]:
        """What was said."""
        return [name for name, _ in self.ports.telemetry.events]  # type: ignore[attr-defined]


def test_plugins_run_by_their_order_then_by_name_each_on_what_the_one_before_left() -> None:
    plugins = [Limits("zoe", 5), Limits("b", 100), Limits("a", 100), Limits("late", 101), Limits("first", -1)]
    bench = Bench(*plugins)
    assert bench.run() == (5, [(name, "changed") for name in ("first", "zoe", "a", "b", "late")])
    assert [plugin.seen for plugin in plugins] == [[9], [7], [8], [6], [10]]


def test_a_plugin_that_gives_nothing_is_not_worth_a_word() -> None:
    bench = Bench(Acting(lambda _: None), Acting(lambda asked: asked.query, "same"))
    assert bench.run() == (10, [])
    assert bench.events == []


def test_one_that_sleeps_one_that_raises_and_one_that_gives_nonsense_are_left_out_and_named(
    gate: threading.Event,
) -> None:
    def fail(_: Asked) -> None:
        raise ValueError("the pin is 4921")

    bench = Bench(
        Acting(lambda _: gate.wait(30), "sleeps", 1),
        Acting(fail, "raises", 2),
        Acting(lambda _: "nonsense", "nonsense", 3),
        Limits("works", 4),
        settings=PluginSettings(before_seconds=0.5),
    )
    assert bench.run() == (9, [("sleeps", "cut"), ("raises", "raised"), ("nonsense", "invalid"), ("works", "changed")])
    assert bench.events == ["plugin_cut", "plugin_raised", "plugin_invalid"]
    said = str(bench.ports.telemetry.events)  # type: ignore[attr-defined]
    assert "ValueError" in said
    assert "4921" not in said


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), RecursionError(), StopIteration()])
def test_however_a_plugin_fails_it_fails_alone(error: BaseException) -> None:
    def fail(_: Asked) -> None:
        raise error

    assert Bench(Acting(fail), Limits()).run() == (9, [("acting", "raised"), ("limits", "changed")])


def test_what_is_shown_cannot_be_changed_through() -> None:
    def meddle(asked: Asked) -> None:
        asked.query.__dict__["limit"] = 1
        asked.caller.__dict__["org_id"] = "another"

    bench = Bench(Acting(meddle), Limits())
    assert bench.run() == (9, [("limits", "changed")])
    assert QUERY.limit == 10


def test_after_three_cuts_a_plugin_rests_and_then_is_tried_once(gate: threading.Event) -> None:
    calls: list[int] = []

    def hang(_: Asked) -> None:
        calls.append(1)
        if not gate.is_set():
            gate.wait(30)

    bench = Bench(Acting(hang), settings=HASTY)
    assert [bench.run()[1] for _ in range(CUTS)] == [[("acting", "cut")]] * CUTS
    assert [bench.run()[1] for _ in range(5)] == [[("acting", "resting")]] * 5
    assert len(calls) == CUTS
    assert bench.events.count("plugin_rests") == 1
    bench.now += 59
    assert bench.run()[1] == [("acting", "resting")]
    bench.now += 2
    assert bench.run()[1] == [("acting", "cut")]
    assert bench.run()[1] == [("acting", "resting")]
    gate.set()
    bench.now += 61
    bench.allow(PATIENT)
    assert [bench.run()[1] for _ in range(3)] == [[], [], []]


def test_a_plugin_that_answers_in_between_does_not_rest(gate: threading.Event) -> None:
    bench = Bench(Acting(lambda _: None if gate.is_set() else gate.wait(30) and None))
    for hangs in (True, True, False, True, True):
        bench.allow(HASTY if hangs else PATIENT)
        gate.clear() if hangs else gate.set()
        assert bench.run()[1] == ([("acting", "cut")] if hangs else [])
    assert "plugin_rests" not in bench.events


def test_a_plugin_that_hangs_holds_its_own_few_threads_and_no_other_plugins(gate: threading.Event) -> None:
    started = threading.Semaphore(0)

    def hang(_: Asked) -> None:
        started.release()
        gate.wait(30)

    bench = Bench(Acting(hang, "hangs", 1), Limits("works", 2), settings=PluginSettings(before_seconds=1))
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(bench.run())) for _ in range(3 * THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {limit for limit, _ in found} == {9}
    assert {reports[1] for _, reports in found} == {("works", "changed")}
    assert {reports[0] for _, reports in found} <= {("hangs", "cut"), ("hangs", "resting")}
    assert sum(started.acquire(blocking=False) for _ in range(20)) <= THREADS


def test_the_late_result_of_a_plugin_that_was_cut_is_dropped(gate: threading.Event) -> None:
    ended = threading.Event()

    def late(asked: Asked) -> RecallQuery:
        gate.wait(30)
        ended.set()
        return asked.query.model_copy(update={"limit": 1})

    bench = Bench(Acting(late), settings=HASTY)
    found = bench.run()
    gate.set()
    assert ended.wait(30)
    assert found == (10, [("acting", "cut")])


def test_a_plugin_knows_how_little_time_there_is_and_gets_no_more_than_the_request_has() -> None:
    left: list[float] = []
    bench = Bench(Acting(lambda _: left.append(time_left())))
    bench.run()
    with budget(1):
        bench.run()
    assert left[0] <= 5
    assert left[1] <= 1


def test_a_store_that_a_plugin_had_no_time_for_has_not_failed_the_request() -> None:
    def asks(_: object) -> None:
        note_failure("mongo", "it took longer than a plugin has")

    with budget(1):
        Bench(Acting(asks)).run()
        Bench(built_in=(Acting(asks),)).run()
        assert failure_of("mongo") is None


def test_a_request_whose_time_is_up_asks_no_plugin_and_holds_it_against_none() -> None:
    plugin = Limits()
    bench = Bench(plugin)
    with budget(0):
        assert [bench.run() for _ in range(CUTS + 1)] == [(10, [("limits", "cut")])] * (CUTS + 1)
    assert plugin.seen == []
    assert bench.run() == (9, [("limits", "changed")])


def test_an_organization_switches_plugins_for_itself_alone() -> None:
    bench = Bench(Limits("a"), Limits("b"))
    bench.plugins.switch("acme", {"a": False})
    assert bench.run("acme") == (9, [("b", "changed")])
    assert bench.run("other") == (8, [("a", "changed"), ("b", "changed")])
    assert [each.on for each in bench.plugins.standings("acme")] == [False, True]
    assert [each.on for each in bench.plugins.standings("other")] == [True, True]
    assert (bench.plugins.is_on("acme", "a"), bench.plugins.is_on("other", "a")) == (False, True)
    assert not bench.plugins.is_on("acme", "unknown")


def test_a_plugin_may_be_off_until_an_organization_switches_it_on() -> None:
    plugin = Limits()
    plugin.default_on = False  # type: ignore[attr-defined]
    bench = Bench(plugin)
    assert bench.run() == (10, [])
    bench.plugins.switch("acme", {"limits": True})
    assert bench.run() == (9, [("limits", "changed")])
    assert bench.run("other") == (10, [])


def test_a_switch_names_a_plugin_that_there_is_not_and_then_changes_nothing() -> None:
    bench = Bench(Limits("a"))
    with pytest.raises(InvalidInput, match=r"plugins\.nope"):
        bench.plugins.switch("acme", {"a": False, "nope": True})
    assert bench.run() == (9, [("a", "changed")])


def test_another_process_notices_a_switch_within_a_minute() -> None:
    bench = Bench(Limits())
    bench.run()
    bench.ports.switches.put("acme", {"limits": False})
    bench.clock.forward(seconds=59)
    assert bench.run() == (9, [("limits", "changed")])
    bench.clock.forward(seconds=2)
    assert bench.run() == (10, [])


def test_while_the_switches_cannot_be_read_what_was_known_last_holds_and_that_is_said() -> None:
    bench = Bench(Limits())
    bench.plugins.switch("acme", {"limits": False})
    bench.clock.forward(seconds=61)

    def down(org_id: str) -> dict[str, bool]:
        raise StoreUnavailable("mongo", "no answer")

    bench.ports.switches.get = down  # type: ignore[method-assign]
    assert bench.run() == (10, [])
    assert bench.run("other") == (9, [("limits", "changed")])
    assert bench.events == ["plugin_switches_unknown"] * 2
    with pytest.raises(StoreUnavailable):
        bench.plugins.standings("acme")


def test_a_hook_that_no_plugin_has_asks_nobody_whether_it_is_on() -> None:
    bench = Bench(Limits())

    def never(org_id: str) -> dict[str, bool]:
        raise AssertionError(org_id)

    bench.ports.switches.get = never  # type: ignore[method-assign]
    assert not bench.plugins.listens(HookName.BEFORE_RESPONSE, "acme", "recall")


def test_the_plugins_of_the_product_run_in_the_thread_of_the_request() -> None:
    threads: list[threading.Thread] = []
    plugin = Acting(lambda _: threads.append(threading.current_thread()))
    Bench(built_in=(plugin,)).run()
    Bench(plugin).run()
    assert threads[0] is threading.current_thread()
    assert threads[1] is not threading.current_thread()


def test_what_is_not_allowed_is_said_with_its_reason() -> None:
    def refuse(state: RecallQuery, value: Any, _: Any) -> RecallQuery:
        raise NotAllowed("it may not widen limit")

    bench = Bench(Limits())
    state, reports = bench.plugins.run(
        HookName.BEFORE_RECALL,
        "acme",
        QUERY,
        show=lambda state: Asked(caller=Identity.of(ANA), query=state),
        accept=refuse,
    )
    assert state is QUERY
    assert [report.model_copy(update={"ms": 0}) for report in reports] == [
        PluginReport(
            name="limits",
            hook=HookName.BEFORE_RECALL,
            outcome=PluginOutcome.INVALID,
            reason="it may not widen limit",
        )
    ]


def test_the_product_starts_with_plugins_that_a_setting_lists() -> None:
    settings = Settings(plugins=PluginSettings(listed="tests.unit.listed_plugins:Quiet"))
    services = Container(settings, in_memory_ports())
    assert ("quiet", False) in [
        (each.plugin.name, each.plugin.is_built_in) for each in services.plugins.standings("acme")
    ]
