"""Where a sentence ends, and where a full stop belongs to a word that is written short."""

import pytest

from chalicelib.domain.text.sentences import sentences
from tests.conversing import genome_of, talk


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ask Dr. Okafor. He knows.", ["Ask Dr. Okafor.", "He knows."]),
        ("Prof. Müller and Mrs. Brown met at St. Mary's.", ["Prof. Müller and Mrs. Brown met at St. Mary's."]),
        (
            "It was on Jan. 5 at noon. We met Jan. He is nice.",
            ["It was on Jan. 5 at noon.", "We met Jan.", "He is nice."],
        ),
        ("Das Boot, z.B. das blaue. Es ist neu.", ["Das Boot, z.B. das blaue.", "Es ist neu."]),
        ("It took ca. 5 days. We live in CA. It is warm.", ["It took ca. 5 days.", "We live in CA.", "It is warm."]),
        ("I saw the dr.", ["I saw the dr."]),
        ("See you at St.\nMary is here.", ["See you at St.", "Mary is here."]),
        ("The blue one vs. the red one! Yes.", ["The blue one vs. the red one!", "Yes."]),
        ("他来了。我们走吧！", ["他来了。", "我们走吧！"]),
    ],
)
def test_a_sentence_ends_where_it_does(text: str, found: list[str]) -> None:
    assert sentences(text) == found


def test_a_name_behind_a_title_is_in_the_genome() -> None:
    genome = genome_of(talk("The keynote speaker is Dr. Okafor.", "> Noted."))
    assert "Okafor" in str([topic.key_points for topic in genome.topics])
