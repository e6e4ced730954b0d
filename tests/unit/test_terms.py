"""Words of every script are found again, and a text without words never matches everything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.text.stopwords import STOPWORDS
from chalicelib.domain.text.terms import MAX_QUERY_WORDS, MAX_TERM_LENGTH, index_terms, query_words

ALPHABETS = "abcxyz éüñçßıİ абвгдежщ αβγδ ابتث हिन्दी दिल्ली 東京都日本語 かなカナ 도서관 ที่อยู่ 🎂☀ 0123 '’-_.,!?"
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.text(ALPHABETS, max_size=60),
    st.lists(
        st.sampled_from([word for words in STOPWORDS.values() for word in sorted(words)] + ["Porto", "東京"]),
        max_size=12,
    ).map(" ".join),
)


def found(query: str, text: str) -> bool:
    """Whether every word of `query` stands in `text`, and there is one."""
    words, terms = query_words(query), index_terms(text).counts
    return bool(words) and all(any(term in terms for term in word) for word in words)


@given(texts)
def test_every_text_is_found_by_itself(text: str) -> None:
    words, terms = query_words(text), index_terms(text).counts
    assert all(any(term in terms for term in word) for word in words)
    assert bool(words) is bool(terms)


@given(texts)
def test_every_indexed_word_is_among_what_its_own_text_asks_for(text: str) -> None:
    words = query_words(text)
    asked = {term for word in words for term in word}
    terms = index_terms(text).counts
    singles = {term for term in terms if len(term) == 1}  # of Han, parts of the bigrams asked for
    if len(words) < MAX_QUERY_WORDS:
        assert terms.keys() - asked <= singles


@given(texts)
def test_the_length_of_a_text_counts_its_words_and_every_count_is_positive(text: str) -> None:
    terms = index_terms(text)
    assert all(count > 0 for count in terms.counts.values())
    assert (terms.length > 0) is bool(terms.counts)


@given(st.lists(st.text("abcdefgh", min_size=3, max_size=8), max_size=100).map(" ".join))
def test_a_query_never_has_more_words_than_the_limit_nor_one_twice(text: str) -> None:
    words = query_words(text)
    assert len(words) <= MAX_QUERY_WORDS
    assert len(set(words)) == len(words)


def test_a_pasted_page_asks_for_a_bounded_number_of_words() -> None:
    assert len(query_words(" ".join(f"word{i}" for i in range(10_000)))) == MAX_QUERY_WORDS


@pytest.mark.parametrize("text", ["", " ", "…", "?!", "---", "\u200b\u2060", "___", "''", "’", "\n\t", "(){}[]<>"])
def test_a_text_without_words_has_no_terms_and_asks_for_none(text: str) -> None:
    assert index_terms(text).counts == {}
    assert index_terms(text).length == 0
    assert query_words(text) == ()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("东京", "我住在东京的一个小公寓里"),
        ("猫", "我家有一只猫"),
        ("茶", "她喜欢喝绿茶"),
        ("東京", "来週は東京タワーに行きます"),
        ("水", "毎日水を飲みます"),
        ("カレー", "昨日カレーを食べた"),
        ("すし", "母はすしが好きです"),
        ("도서관", "주말마다 도서관에 갑니다"),
        ("서울", "안나는 서울에 산다"),
        ("กรุงเทพ", "ฉันอาศัยอยู่ในกรุงเทพ"),
        ("ภาษาไทย", "เขาพูดภาษาไทยได้"),
        ("القاهرة", "تعيش آنا في القاهرة منذ سنة"),
        ("الكتاب", "قرأت هذا الكتاب أمس"),
        ("собака", "У Ани есть большая собака"),
        ("собаки", "Она гуляет с собакой"),
        ("книга", "Я прочитал две книги"),
        ("Θεσσαλονίκη", "Η Άννα μένει στη Θεσσαλονίκη"),
        ("दिल्ली", "अना दिल्ली में रहती है"),
        ("🎂", "party with 🎂 on Friday"),
        ("2026", "the plan of 2026-03-01"),
        ("c", "written in C"),
    ],
)
def test_a_word_of_any_script_is_found_in_a_text_of_it(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running", "she runs every day"),
        ("cats", "the cat sleeps"),
        ("Häuser", "das Haus ist alt"),
        ("livres", "elle a un livre dans son sac"),
        ("gatos", "el gato es muy negro"),
        ("gatti", "il gatto è nero e non sta qui"),
        ("meninas", "a menina está na escola com o pai"),
        ("boeken", "het boek is van haar"),
        ("bilar", "han har en bil och en båt"),
        ("kitaplar", "bu kitap çok iyi"),
        ("книгами", "эта книга очень старая"),
    ],
)
def test_another_form_of_a_word_is_found_in_its_language(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cafe", "we met at the café"),
        ("café", "we met at the cafe"),
        ("ZÜRICH", "she moved to Zürich"),
        ("Zurich", "she moved to Zürich"),
        ("cafe\u0301", "we met at the caf\u00e9"),
        ("Ａｎａ", "Ana lives here"),
        ("STRASSE", "die Straße ist lang"),
        ("Lukasz", "Lukasz's bike"),
        ("o’brien", "ask O'Brien"),
    ],
)
def test_case_accents_and_unicode_forms_make_no_difference(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("किताब", "कुतुब"),  # book, poles
        ("दिल", "दाल"),  # heart, lentils
        ("ดี", "ดู"),  # good, look
    ],
)
def test_words_that_differ_in_their_vowel_signs_stay_different(left: str, right: str) -> None:
    assert not found(left, right)


@pytest.mark.parametrize(
    ("query", "text"),
    [("كتاب", "هذا كِتَاب قديم"), ("istanbul", "İstanbul çok güzel"), ("שלום", "שָׁלוֹם לכולם")],
    ids=["arabic vowel signs", "turkish dotted capital", "hebrew points"],
)
def test_a_word_is_found_without_the_marks_it_is_written_with(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize("word", ["किताब", "हिन्दी", "தமிழ்", "كِتَاب", "İstanbul", "שָׁלוֹם"])
def test_combining_marks_do_not_cut_a_word_into_letters(word: str) -> None:
    assert index_terms(word).length == 1


@pytest.mark.parametrize("language", sorted(STOPWORDS))
def test_a_query_of_nothing_but_stop_words_still_asks_for_something(language: str) -> None:
    query = " ".join(sorted(STOPWORDS[language])[:6])
    assert query_words(query)
    assert found(query, query)


def test_stop_words_are_no_terms_beside_other_words() -> None:
    assert set(index_terms("where is the house of my friend").counts) == {"hous", "friend"}
    assert [word[0] for word in query_words("where is the house?")] == ["hous"]


def test_a_query_of_function_words_in_chinese_still_asks_for_something() -> None:
    assert query_words("什么")


@pytest.mark.parametrize("text", ["日本語の本", "我住在东京", "서울에 산다", "ฉันรักเธอ"])
def test_a_foreign_word_of_the_same_script_is_not_found(text: str) -> None:
    assert not found("猫", text)
    assert not found("부산", text)


def test_words_repeated_count_each_time() -> None:
    assert index_terms("tea tea coffee").counts == {"tea": 2, "coffe": 1}
    assert index_terms("tea tea coffee").length == 3


def test_a_run_too_long_to_be_a_word_is_no_term() -> None:
    assert index_terms("a1" * MAX_TERM_LENGTH + " tea").counts == {"tea": 1}


def test_the_terms_of_a_text_are_the_same_in_every_thread() -> None:
    from concurrent.futures import ThreadPoolExecutor

    text = "she was running along the rivers of Porto with her friends"
    wanted = index_terms(text)
    with ThreadPoolExecutor(8) as pool:
        assert all(one == wanted for one in pool.map(lambda _: index_terms(text), range(64)))
