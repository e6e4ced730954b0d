"""The genome of a user across sessions: only their own words, bounded, and old topics leave."""

from datetime import timedelta

import bpe_openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.user import MAX_TOKENS, current, merge_session, user_text
from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.domain.text.tokens import estimate
from tests.building import NOW
from tests.conversing import said, talk

TOKENIZER = bpe_openai.get_encoding("o200k_base")


def merged(*sessions: list[SessionMessage], user: str = "ana") -> UserGenome:
    """The genome of a user after these sessions."""
    genome = UserGenome(user_id=user)
    for number, messages in enumerate(sessions):
        genome = merge_session(genome, f"s{number}", messages, NOW + timedelta(hours=1))
    return genome


def test_it_follows_a_user_from_one_channel_to_another() -> None:
    genome = merged(talk("My name is Ana Silva."), talk("We decided to use Postgres for billing."))
    text = user_text(genome)
    assert "Ana Silva" in text
    assert "Postgres" in text
    assert genome.merges == 2


@given(st.lists(st.tuples(st.sampled_from(["ana", "bob", None]), st.text(max_size=60)), max_size=12))
def test_it_is_never_made_from_what_others_say(spoken: list[tuple[str | None, str]]) -> None:
    messages = [said(text, i, author) for i, (author, text) in enumerate(spoken)]
    own = [message for message in messages if message.author == "ana"]
    assert merged(messages) == merged(own)


def test_in_a_shared_session_each_has_their_own() -> None:
    shared = [said("I live in Porto with my dog Rex.", 0, "ana"), said("I live in Faro with my cat Mia.", 1, "bob")]
    ana, bob = user_text(merged(shared)), user_text(merged(shared, user="bob"))
    assert ("Porto" in ana, "Faro" in ana) == (True, False)
    assert ("Porto" in bob, "Faro" in bob) == (False, True)


def test_the_same_messages_again_change_nothing_and_new_ones_are_added() -> None:
    messages = talk("My name is Ana Silva.", "> Nice to meet you.", "I live in Porto.")
    once = merge_session(UserGenome(user_id="ana"), "s", messages[:2], NOW)
    assert merge_session(once, "s", messages[:2], NOW) is once
    twice = merge_session(once, "s", messages, NOW)
    assert "Porto" in user_text(twice)
    assert twice.merged_to("s") == 3


def test_a_later_session_corrects_an_earlier_one() -> None:
    text = user_text(merged(talk("I live in Porto."), talk("I moved to Braga.", at=NOW + timedelta(days=1))))
    assert "Braga" in text
    assert "Porto" not in text


def test_topics_leave_after_seven_days() -> None:
    genome = merged(talk("The orchard behind the school needs new apple trees."))
    assert genome.topics
    assert current(genome, NOW + timedelta(days=6)) == genome
    left = current(genome, NOW + timedelta(days=8))
    assert left.topics == ()
    assert "orchard" not in user_text(left)


SCRIPTS = ("The {} harbour has {} boats.", "第{}个港口有{}艘船在停泊。", "في الميناء رقم {} توجد {} سفينة.")


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_keeps_to_1000_real_tokens(script: str) -> None:
    sessions = [talk(*(f"My {script.format(9 * s + i, 7 * i)}" for i in range(12))) for s in range(12)]
    genome = merged(*sessions)
    assert genome.token_count <= MAX_TOKENS
    assert len(TOKENIZER.encode(user_text(genome))) <= MAX_TOKENS
    assert estimate(user_text(genome)) <= genome.token_count
    assert UserGenome.model_validate(genome.model_dump(by_alias=True)) == genome
