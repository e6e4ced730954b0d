"""Who gets in: the factors, the rules that no score overrules, and verdicts that can be replayed."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.admission import WEIGHTS, Decision, FactorName, Ruling, Signals, Verdict, decided
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import Memory, MemoryType, Status
from chalicelib.errors import Forbidden
from chalicelib.ports import Browse
from chalicelib.write import guarding
from chalicelib.write.admission.judgement import judged, replay
from tests.building import NOW, TestClock, caller, container

ANA = caller("acme", "ana", spaces=("red",))
BOB = caller("acme", "bob", spaces=("red",))
ADMIN = caller("acme", "root", Role.ADMIN)


def receipts_of(services: Any, items: list[Any], who: Caller = ANA, **asked: Any) -> list[dict[str, Any]]:
    """The receipts of a batch."""
    found: list[dict[str, Any]] = services.remember.remember(who, items, key=None, single=False, **asked)
    return found


def receipt_of(services: Any, content: str, who: Caller = ANA, *, dry_run: bool = False, **item: Any) -> dict[str, Any]:
    """The receipt of one item."""
    (found,) = services.remember.remember(who, [{"content": content, **item}], key=None, single=True, dry_run=dry_run)
    return dict(found)


def row_of(services: Any, id_: str, who: Caller = ANA) -> Memory:
    """A stored row, whatever its status."""
    (found,) = services.ports.store.fetch(who.chain, [id_])
    memory: Memory = found.memory
    return memory


def test_the_weights_are_the_specs_and_make_one() -> None:
    assert list(WEIGHTS.values()) == [0.25, 0.20, 0.25, 0.10, 0.20]
    assert sum(WEIGHTS.values()) == pytest.approx(1)
    assert set(WEIGHTS) == set(FactorName)


@pytest.mark.parametrize(
    ("score", "decision"),
    [
        (1, "admit"),
        (0.5, "admit"),
        (0.4999, "quarantine"),
        (0.25, "quarantine"),
        (0.2499, "reject"),
        (0, "reject"),
    ],
)
def test_the_thresholds_are_the_specs(score: float, decision: str) -> None:
    assert decided(score) == decision


STATED = [
    "Ana moved to Porto in May",
    "x",
    "We deploy on Fridays",
    "Ana vive en Oporto desde mayo",
    "Ana wohnt seit Mai in Porto",
    "Анна живёт в Порту с мая",
    "安娜五月搬到了波尔图",
    "アナは5月にポルトへ引っ越しました",
    "انتقلت آنا إلى بورتو في مايو",
    "अना मई में पोर्टो चली गई",
    "아나는 5월에 포르투로 이사했다",
    "อานาย้ายไปปอร์โตในเดือนพฤษภาคม",
]


@pytest.mark.parametrize("content", STATED)
@pytest.mark.parametrize("kind", [kind for kind in MemoryType if kind is not MemoryType.CONVERSATION])
def test_what_somebody_declares_and_states_is_active_in_any_script(content: str, kind: MemoryType) -> None:
    receipt = receipt_of(container(), content, type=kind.value)
    assert (receipt["outcome"], receipt["status"]) == ("stored", "active")


GREETINGS = [
    "hi",
    "ok thanks",
    "Hello Ana!",
    "Thank you so much 🙏",
    "Guten Morgen",
    "Danke dir!",
    "merci beaucoup",
    "buenos días",
    "grazie mille",
    "bom dia",
    "dank je wel",
    "tack så mycket",
    "Привет!",
    "спасибо",
    "teşekkür ederim",
    "شكرا",
    "नमस्ते",
    "안녕하세요",
    "你好",
    "谢谢你",
    "ありがとうございます",
    "สวัสดีครับ",
    "תודה רבה",
    "καλημέρα",
    "👍",
    "😀😀",
    "...",
    "!!",
]


@pytest.mark.parametrize("kind", ["fact", "preference", "correction", "conversation"])
@pytest.mark.parametrize("content", GREETINGS)
def test_a_bare_greeting_is_never_active(content: str, kind: str) -> None:
    services = container()
    receipt = receipt_of(services, content, type=kind)
    assert receipt["outcome"] in {"quarantined", "rejected"}
    assert services.ports.store.browse(ANA.chain, Browse()).items == ()


@pytest.mark.parametrize(
    "content", ["Hello Kitty is what Ana collects", "Danke heißt auf Englisch thanks", "Hi-fi is Ana's hobby"]
)
def test_a_greeting_in_a_statement_does_not_keep_it_out(content: str) -> None:
    assert receipt_of(container(), content)["outcome"] == "stored"


CORRECTIONS = [
    "That's wrong, I live in Faro",
    "Das stimmt nicht, ich wohne in Faro",
    "Je me suis trompée, j'habite à Faro",
    "Me equivoqué, vivo en Faro",
    "Mi sono sbagliata, abito a Faro",
    "Я ошиблась, я живу в Фару",
    "说错了，我住在法鲁",
    "間違えました、ファロに住んでいます",
    "틀렸어요, 저는 파루에 살아요",
]


@pytest.mark.parametrize("content", CORRECTIONS)
def test_what_plainly_corrects_something_is_active_even_if_merely_said(content: str) -> None:
    receipt = receipt_of(container(), content, type="conversation")
    assert receipt["status"] == "active"
    assert receipt["admission"]["score"] >= 0.6


def test_a_correction_is_worth_a_high_score_however_old_and_near_it_is() -> None:
    services = container()
    receipt_of(services, "Ana lives in Porto")
    old = (NOW - timedelta(days=4000)).isoformat()
    receipt = receipt_of(services, "Ana lives in Porto now", type="correction", eventTime=old)
    assert receipt["status"] == "active"
    assert receipt["admission"]["score"] >= 0.6


def test_chit_chat_that_was_merely_said_is_not_recalled() -> None:
    for content in ("That sounds so nice, you are amazing!", "Wow, what are you up to?", "Haha that is so true"):
        assert receipt_of(container(), content, type="conversation")["outcome"] in {"quarantined", "rejected"}


def test_what_people_tell_of_themselves_in_a_conversation_is_recalled() -> None:
    asked: dict[str, Any] = {"messages": [{"speaker": "Bob", "text": "What have you been up to?"}]}
    said = "I adopted a greyhound named Pixel from the shelter in Braga last Saturday"
    assert receipt_of(container(), said, type="conversation", **asked)["status"] == "active"


@pytest.mark.parametrize("kind", ["fact", "preference", "goal", "correction"])
def test_the_assistants_words_are_no_fact_of_its_user(kind: str) -> None:
    services = container()
    said: dict[str, Any] = {"origin": {"speaker": "Assistant"}, "type": kind}
    receipt = receipt_of(services, "Ana moved to Porto on 3 May 2026 with Carla", **said)
    assert receipt["outcome"] == "quarantined"
    assert "assistant" in receipt["reason"]
    assert row_of(services, receipt["id"]).origin is not None


def test_what_only_the_assistants_messages_hold_counts_as_its_words() -> None:
    messages = [
        {"speaker": "user", "text": "what should I eat?"},
        {"speaker": "assistant", "text": "Ana loves sardines from Porto"},
    ]
    services = container()
    assert receipt_of(services, "Ana loves sardines from Porto", messages=messages)["outcome"] == "quarantined"
    said = [{"speaker": "user", "text": "I am Ana, and I love sardines from Porto"}, *messages]
    assert receipt_of(services, "Ana loves sardines of Porto", messages=said)["outcome"] == "stored"


def confidence(services: Any, content: str, **item: Any) -> float:
    """The factor, without storing anything."""
    return float(receipt_of(services, content, dry_run=True, **item)["admission"]["factors"]["factualConfidence"])


@pytest.mark.parametrize(
    ("plain", "doubtful"),
    [
        ("Ana lives in Porto", "Maybe Ana lives in Porto"),
        ("Ana wohnt in Porto", "Ana wohnt vielleicht in Porto"),
        ("Ana vive en Oporto", "Quizás Ana vive en Oporto"),
        ("Анна живёт в Порту", "Кажется, Анна живёт в Порту"),
        ("安娜住在波尔图", "安娜可能住在波尔图"),
        ("アナはポルトに住んでいます", "アナは多分ポルトに住んでいます"),
    ],
)
def test_doubt_lowers_confidence(plain: str, doubtful: str) -> None:
    services = container()
    assert confidence(services, doubtful) < confidence(services, plain)


def test_what_the_given_messages_do_not_hold_is_less_certain() -> None:
    services, fact = container(), "Ana moved to Porto"
    proven = confidence(services, fact, messages=[{"speaker": "Ana", "text": "I moved to Porto, says Ana"}])
    assert confidence(services, fact, messages=[{"speaker": "Ana", "text": "nice weather"}]) < proven
    assert confidence(services, fact, confidence=0.1) < confidence(services, fact, confidence=0.9)


def test_an_old_event_is_less_fresh() -> None:
    services = container()
    scores = [
        receipt_of(services, "Ana moved", dry_run=True, eventTime=(NOW - timedelta(days=days)).isoformat())
        for days in (-30, 0, 365)
    ]
    assert [found["admission"]["factors"]["temporalRecency"] for found in scores] == [1, 1, 0.5]


def novelty(services: Any, content: str, who: Caller = ANA, **item: Any) -> float:
    """The factor, without storing anything."""
    return float(receipt_of(services, content, who, dry_run=True, **item)["admission"]["factors"]["semanticNovelty"])


@pytest.mark.parametrize("hot", ["with the index", "without"])
def test_what_the_scope_holds_already_is_not_new(hot: str) -> None:
    services = container() if hot == "with the index" else container(hot=None)
    fresh = novelty(services, "Ana plays the cello on Sundays")
    receipt_of(services, "Ana plays the cello on Sundays")
    again: dict[str, Any] = {"type": "observation", "eventTime": (NOW + timedelta(days=1)).isoformat()}
    assert novelty(services, "Ana plays the cello on Sundays", **again) < 0.2 < fresh
    assert novelty(services, "The harbour festival begins in June") > 0.6


@pytest.mark.parametrize(
    ("who", "where"),
    [(BOB, {}), (ANA, {"scope": "space", "scopeId": "red"}), (caller("rival", "ana"), {})],
    ids=["another reader", "another scope of the same reader", "another organization"],
)
@pytest.mark.parametrize("hot", ["with the index", "without"])
def test_novelty_looks_at_the_own_scope_alone(who: Caller, where: dict[str, str], hot: str) -> None:
    services = container() if hot == "with the index" else container(hot=None)
    text = "Ana plays the cello on Sundays"
    before = receipt_of(services, text, who, dry_run=True, **where)["admission"]
    for i in range(3):
        receipt_of(services, text, type="observation", eventTime=(NOW + timedelta(days=i)).isoformat())
    assert receipt_of(services, text, who, dry_run=True, **where)["admission"] == before


def test_within_a_batch_an_item_is_compared_with_those_before_it() -> None:
    times = [(NOW + timedelta(hours=i)).isoformat() for i in range(2)]
    items = [{"content": "Ana plays the cello", "type": "observation", "eventTime": time} for time in times]
    first, second = receipts_of(container(), items)
    assert second["admission"]["factors"]["semanticNovelty"] < first["admission"]["factors"]["semanticNovelty"] / 2


def test_a_verdict_says_what_it_went_without() -> None:
    services = container(hot=None)
    services.ports.embedder.fail = True  # type: ignore[attr-defined]
    receipt = receipt_of(services, "Ana lives in Porto")
    assert receipt["admission"]["missing"] == ["index", "vectors"]
    assert receipt["outcome"] == "stored"


def test_a_verdict_is_stored_and_replays_to_itself_from_its_signals() -> None:
    services = container()
    messages = [{"speaker": "Bob", "text": "Where to?"}]
    for content in ("hi", "Ana moved to Porto on 3 May", "Maybe we deploy on Fridays?", "That's wrong, I live in Faro"):
        receipt = receipt_of(services, content, messages=messages)
        verdict = Verdict.model_validate(row_of(services, receipt["id"]).admission)
        assert replay(verdict) == verdict
        assert receipt["admission"]["score"] == verdict.score
    changed = verdict.model_copy(update={"signals": verdict.signals.model_copy(update={"courtesy": True})})
    assert replay(changed) != changed


def test_a_verdict_holds_no_text() -> None:
    services = container()
    receipt = receipt_of(services, "Ana keeps the xylophone", messages=[{"text": "the zither"}])
    said = str(row_of(services, receipt["id"]).admission)
    assert "xylophone" not in said
    assert "zither" not in said


def test_a_quarantined_row_waits_and_is_in_no_index() -> None:
    services = container()
    receipt = receipt_of(services, "hi")
    assert (receipt["outcome"], receipt["status"]) == ("quarantined", "quarantined")
    assert receipt["reason"]
    memory = row_of(services, receipt["id"])
    assert (memory.status, memory.quarantine_reason, memory.admitted_at) == (Status.QUARANTINED, "score", None)
    assert services.ports.store.count_pending() == 0
    assert services.ports.hot is not None
    assert services.ports.hot.changed() == []
    assert row_of(services, receipt_of(services, "Ana lives in Porto")["id"]).admitted_at == NOW


def test_what_is_rejected_leaves_no_row_and_says_why() -> None:
    services = container()
    twice = [{"content": "ok thanks", "type": "conversation"}] * 2
    first, second = receipts_of(services, twice)
    assert first["outcome"] == second["outcome"] == "rejected"
    assert "id" not in first
    assert first["admission"]["score"] < 0.25
    assert first["admission"]["reasons"]
    assert list(services.ports.store.scope_keys()) == []


def test_a_dry_run_leaves_no_trace() -> None:
    services = container()
    kept = receipt_of(services, "Ana lives in Porto")
    before = services.ports.store.browse(ANA.chain, Browse()).items
    items: list[Any] = [
        {"content": "Ana has a cat"},
        {"content": "hi"},
        {"content": "Ana lives in Porto"},
        {"content": " "},
    ]
    acting = caller("acme", "ana", on_behalf_by="key_1")
    found = services.remember.remember(acting, items, key="k", single=False, dry_run=True)
    assert [each["outcome"] for each in found] == ["stored", "quarantined", "duplicate", "invalid"]
    assert all(each["dryRun"] is True for each in found)
    assert [each.get("id") for each in found] == [None, None, kept["id"], None]
    assert services.ports.store.browse(ANA.chain, Browse()).items == before
    assert services.ports.audit.list("acme", None, 10).items == ()
    stored = services.remember.remember(acting, items, key="k", single=False)
    assert [each["outcome"] for each in stored] == ["stored", "quarantined", "duplicate", "invalid"]


def test_a_trusted_batch_admits_and_records_who_trusted_it() -> None:
    services = container()
    (receipt,) = receipts_of(services, [{"content": "hi"}], ADMIN, trusted=True)
    assert (receipt["status"], receipt["admission"]["by"]) == ("active", "trust")
    assert receipt["admission"]["score"] < 0.5
    verdict = Verdict.model_validate(row_of(services, receipt["id"], ADMIN).admission)
    assert (verdict.own_decision, verdict.decision, verdict.trusted_by) == ("quarantine", "admit", "root")
    assert replay(verdict) == verdict
    (event,) = services.ports.audit.list("acme", None, 10).items
    assert (event.action, event.actor, event.target) == ("trust", "root", receipt["id"])


@pytest.mark.parametrize("who", [ANA, caller("acme", "ana", Role.REVIEWER)], ids=["member", "reviewer"])
def test_trust_takes_an_admin(who: Caller) -> None:
    services = container()
    with pytest.raises(Forbidden) as refused:
        receipts_of(services, [{"content": "hi"}], who, trusted=True)
    assert refused.value.details["field"] == "trusted"
    assert list(services.ports.store.scope_keys()) == []


@pytest.fixture
def patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A defence that finds one pattern, in whatever field it stands."""
    found = {"PAYLOAD": ("override",)}

    def found_in(texts: Iterable[str]) -> tuple[str, ...]:
        text = "\n".join(texts)
        return next((kinds for pattern, kinds in found.items() if pattern in text), ())

    monkeypatch.setattr(guarding, "found_in_any", found_in)


@pytest.mark.usefixtures("patterns")
@pytest.mark.parametrize(
    "item",
    [
        {"content": "PAYLOAD"},
        {"content": "x", "summary": "PAYLOAD"},
        {"content": "x", "tags": ["PAYLOAD"]},
        {"content": "x", "keyEntities": ["PAYLOAD"]},
        {"content": "x", "source": "PAYLOAD"},
        {"content": "x", "outcome": "PAYLOAD"},
        {"content": "x", "origin": {"speaker": "PAYLOAD"}},
        {"content": "x", "claims": [{"subject": "x", "attribute": "y", "value": "PAYLOAD"}]},
        {"content": "x", "attachments": [{"type": "image", "url": "https://x.example/", "description": "PAYLOAD"}]},
    ],
    ids=lambda item: next(iter(item.keys() - {"content"}), "content"),
)
def test_an_injection_is_quarantined_and_nothing_forces_it_in(item: dict[str, Any]) -> None:
    services = container()
    services.admission.hooks = lambda _, memory, __: Ruling(memory, Decision.ADMIT, "eager")
    (receipt,) = receipts_of(services, [item | {"type": "correction"}], ADMIN, trusted=True)
    assert (receipt["outcome"], receipt["admission"]["by"]) == ("quarantined", "injection")
    assert "override" in receipt["reason"]
    assert row_of(services, receipt["id"], ADMIN).quarantine_reason == "injection"
    assert [name for name, _ in services.ports.telemetry.events] == ["injection_quarantined"]  # type: ignore[attr-defined]


def with_hooks(hooks: Any) -> Any:
    """A container whose plugins answer as `hooks` does."""
    services = container()
    services.admission.hooks = hooks
    return services


def test_a_plugin_may_force_admission_and_rejection() -> None:
    services = with_hooks(lambda _, memory, __: Ruling(memory, Decision.ADMIT, "eager"))
    receipt = receipt_of(services, "hi")
    assert (receipt["status"], receipt["admission"]["by"]) == ("active", "eager")
    services.admission.hooks = lambda _, memory, __: Ruling(memory, Decision.REJECT, "strict")
    receipt = receipt_of(services, "Ana lives in Porto")
    assert (receipt["outcome"], receipt["reason"]) == ("rejected", "the plugin strict decided so")


def raising(*_: object) -> Ruling:
    raise RuntimeError("a plugin broke")


@pytest.mark.parametrize(
    "hooks",
    [raising, lambda _, memory, __: Ruling(memory, failed=("slow",))],
    ids=["raises", "was cut off"],
)
def test_an_admission_plugin_that_fails_means_quarantine(hooks: Any) -> None:
    services = with_hooks(hooks)
    for content in ("Ana lives in Porto", "ok"):
        receipt = receipt_of(services, content)
        assert receipt["outcome"] == "quarantined"
        assert row_of(services, receipt["id"]).quarantine_reason == "plugin"
        verdict = Verdict.model_validate(row_of(services, receipt["id"]).admission)
        assert replay(verdict) == verdict
    (trusted,) = receipts_of(services, [{"content": "Ana has a cat"}], ADMIN, trusted=True)
    assert trusted["outcome"] == "quarantined"


@pytest.mark.usefixtures("patterns")
def test_what_a_plugin_changes_is_judged_again_and_undoes_no_injection() -> None:
    def change(_: Caller, memory: Memory, verdict: Verdict) -> Ruling:
        content = "Ana has a bird" if "PAYLOAD" in memory.content else memory.content.replace("cat", "PAYLOAD")
        return Ruling(memory.model_copy(update={"content": content}), Decision.ADMIT, "eager")

    services = with_hooks(change)
    assert receipt_of(services, "Ana has a dog")["outcome"] == "stored"
    for content in ("Ana has a cat", "Ana has PAYLOAD"):
        receipt = receipt_of(services, content)
        assert (receipt["outcome"], receipt["admission"]["by"]) == ("quarantined", "injection")
        row = row_of(services, receipt["id"])
        assert row.quarantine_reason == "injection"
        verdict = Verdict.model_validate(row.admission)
        assert replay(verdict) == verdict


def test_a_changed_candidate_is_found_by_its_new_words() -> None:
    def change(_: Caller, memory: Memory, verdict: Verdict) -> Ruling:
        return Ruling(memory.model_copy(update={"content": "Ana lives in Faro"}))

    services = with_hooks(change)
    receipt = receipt_of(services, "Ana lives somewhere")
    (row,) = services.ports.store.fetch(ANA.chain, [receipt["id"]])
    assert row.memory.content == "Ana lives in Faro"
    assert "faro" in row.counts


def test_the_same_key_with_another_trust_is_another_body() -> None:
    services = container(clock=TestClock())
    items: list[Any] = [{"content": "Ana lives in Porto"}]
    services.remember.remember(ADMIN, items, key="k", single=False, trusted=True)
    with pytest.raises(Exception, match="another body"):
        services.remember.remember(ADMIN, items, key="k", single=False)


def test_factors_are_shares_whatever_the_signals() -> None:
    extremes = [
        Signals(
            type=kind, stated=n, information=float(n), fresh=n, names=n, dates=n, hedges=n, age_days=age, overlap=n > 0
        )
        for kind in MemoryType
        for n in (0, 1, 10_000)
        for age in (-1e6, 0, 1e6)
    ]
    for verdict in map(judged, extremes):
        assert 0 <= verdict.score <= 1
        assert all(0 <= factor.score <= 1 for factor in verdict.factors.values())


@pytest.mark.parametrize("size", [1, 12], ids=["few", "many"])
def test_how_many_come_at_once_and_what_is_frequent_make_no_other_verdict(size: int) -> None:
    services = container()
    said = ("cello", "viola", "flute", "organ")
    rows = [{"content": f"Ana plays the {said[i % 4]} in hall {i}"} for i in range(60)]
    for start in (0, 20, 40):
        receipts_of(services, rows[start : start + 20])
    services.ports.store.take_statistics(ANA.chain.keys[-1])
    services.maintenance.rebuild(ANA.chain.keys[-1])
    again = [
        {"content": "Ana plays the cello in hall 8!"},
        *({"content": f"zebra{i} runs far{i}"} for i in range(size - 1)),
    ]
    first = receipts_of(services, again, dry_run=True)[0]["admission"]
    assert first["factors"]["semanticNovelty"] < 0.3
    assert first["missing"] == []
    assert receipts_of(services, again[:1], dry_run=True)[0]["admission"] == first
