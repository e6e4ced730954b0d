"""The estimate of tokens against a real tokenizer, o200k, whose ranks a development package brings."""

import json
from pathlib import Path

import bpe_openai
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chalicelib.domain.text.tokens import cut, end_of, estimate, parts
from vitto_tools.bench.dialogues import DATA
from vitto_tools.bench.locomo import conversations
from vitto_tools.calibration.pieces import TARGET, chosen, written

ROOT = Path(__file__).parents[2]
LEAST, MOST_ON_AVERAGE = 0.97, 1.25  # spec/context.md: of the real count
TOKENIZER = bpe_openai.get_encoding("o200k_base")
SCRIPTS = {
    "latin": (
        "We moved the release to Thursday because the audit of the payment service is not finished.",
        "Wir haben am Dienstag entschieden, dass die Datenbank auf Postgres umgestellt wird.",
        "J'habite à Lyon depuis trois ans, mais ma sœur travaille encore à Genève.",
    ),
    "cyrillic": (
        "Вчера мы решили перенести встречу на четверг, потому что отчёт ещё не готов.",
        "Мою собаку зовут Лайка, ей три года, и она очень любит гулять в лесу.",
    ),
    "greek": (
        "Αποφασίσαμε να μεταφέρουμε τη συνάντηση για την Πέμπτη το πρωί.",
        "Η αδερφή μου μένει στη Θεσσαλονίκη και δουλεύει σε ένα νοσοκομείο.",
    ),
    "arabic": (
        "قررنا أمس نقل الاجتماع إلى يوم الخميس لأن التقرير لم يكتمل بعد.",
        "تعيش أختي في القاهرة وتعمل طبيبة في مستشفى كبير منذ خمس سنوات.",
    ),
    "hebrew": (
        "החלטנו אתמול להעביר את הפגישה ליום חמישי כי הדוח עדיין לא מוכן.",
        "אחותי גרה בחיפה ועובדת כרופאה בבית חולים גדול כבר חמש שנים.",
    ),
    "devanagari": (
        "हमने कल बैठक को गुरुवार तक टालने का फैसला किया क्योंकि रिपोर्ट तैयार नहीं है।",
        "मेरी बहन दिल्ली में रहती है और एक बड़े अस्पताल में काम करती है।",
    ),
    "thai": (
        "เมื่อวานเราตัดสินใจเลื่อนการประชุมไปเป็นวันพฤหัสบดีเพราะรายงานยังไม่เสร็จ",
        "พี่สาวของฉันอาศัยอยู่ที่เชียงใหม่และทำงานเป็นหมอ",
    ),
    "han": (
        "我们昨天决定把会议推迟到星期四，因为报告还没有完成。",
        "我妹妹住在台北，在一家大医院当医生，已经工作了五年。",
    ),
    "kana": (
        "昨日、報告書がまだできていないので、会議を木曜日に延期することに決めました。",
        "姉は大阪に住んでいて、大きな病院で医者として働いています。",
    ),
    "hangul": (
        "어제 우리는 보고서가 아직 완성되지 않아서 회의를 목요일로 미루기로 결정했습니다.",
        "제 여동생은 부산에 살고 있으며 큰 병원에서 의사로 일하고 있습니다.",
    ),
}


def real(text: str) -> int:
    """The tokens that o200k counts."""
    return len(TOKENIZER.encode(text, disallowed_special=()))


def turns() -> list[str]:
    """What is said in LoCoMo."""
    return [turn.text for conversation in conversations() for turn in conversation.turns if turn.text]


def code() -> list[str]:
    """Pages of this project's own code."""
    whole = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "chalicelib" / "recall").glob("*.py")))
    return [whole[start : start + 1500] for start in range(0, len(whole), 1500)]


def json_pages() -> list[str]:
    """The API's description, as it is served and as it is stored, and records with ids, times and numbers."""
    described = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    texts = (json.dumps(described), json.dumps(described, indent=2)[:60_000])
    rows = [
        json.dumps(
            {"id": f"mem_{7919**9 * n:026x}"[:30], "at": f"2026-0{n % 9 + 1}-1{n % 9}T0{n % 9}:07:07.28Z", "n": n / 7}
        )
        for n in range(1, 40)
    ]
    return [*(text[start : start + 1500] for text in texts for start in range(0, len(text), 1500)), *rows]


CORPORA = {"code": code, "json": json_pages, **({"locomo": turns} if DATA.exists() else {})}


@pytest.mark.parametrize("name", [*CORPORA, *SCRIPTS])
def test_no_text_is_understated_and_the_mean_is_near(name: str) -> None:
    texts = SCRIPTS[name] if name in SCRIPTS else CORPORA[name]()
    shares = [estimate(text) / real(text) for text in texts]
    assert min(shares) >= LEAST
    assert sum(shares) / len(shares) <= MOST_ON_AVERAGE


@pytest.mark.parametrize(
    "text",
    [
        "dGhpcyBpcyBub3QgYSBzZWNyZXQgYnV0IGl0IGxvb2tzIGxpa2Ugb25l" * 4,
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "👩‍👩‍👧‍👦 went to the 🏖️ on 2026-03-01 at 18:30 🎉🎉🎉",
        "https://example.org/a/very/long/path?with=query&and=fragments#here-and-there_too",
        "|---|---|\n| a | 12,345.67 |\n\n\n\t\tx\t=\t1;\r\n",
        "𒀀𒁀𓀀𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ﷽ ༼ つ ◕_◕ ༽つ",
    ],
)
def test_what_is_hardly_text_is_not_understated_either(text: str) -> None:
    assert estimate(text) >= LEAST * real(text)


@example("ﬀß\u0301ǅ\n\r\u2028\x1c")
@given(st.text(max_size=80))
def test_the_parts_are_the_text_and_every_part_costs_something(text: str) -> None:
    assert "".join(parts(text)) == text
    assert len(parts(text)) <= estimate(text) <= 4 * len(text)


@given(st.text(max_size=80), st.integers(0, 30))
def test_a_cut_is_a_beginning_within_its_tokens(text: str, tokens: int) -> None:
    beginning = cut(text, tokens)
    assert text.startswith(beginning)
    assert estimate(beginning) <= tokens
    ending = end_of(text, tokens)
    assert text.endswith(ending)
    assert estimate(ending) <= tokens


def test_a_cut_falls_between_words() -> None:
    assert cut("We moved to Porto in May", 5) == "We moved to Porto"


def test_a_cut_falls_inside_a_word_where_there_is_nothing_else() -> None:
    assert 5 <= len(cut("我们昨天决定把会议推迟到星期四", 6)) < 15
    assert 5 <= len(end_of("我们昨天决定把会议推迟到星期四", 6)) < 15
    assert 10 <= len(cut("x9" * 400, 20)) < 100
    assert cut("👩\u200d👩\u200d👧", 2) in {"", "👩\u200d👩\u200d👧"}


def test_the_pieces_are_those_that_the_tool_writes() -> None:
    assert TARGET.read_text(encoding="utf-8") == written(chosen())
