"""The active window: sized by what the other parts leave, and nothing that leaves it is lost."""

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.context.window import FEWEST, MOST, evict_and_compress, mean_message_tokens, window_size
from tests.conversing import empty, said, talk

tokens = st.integers(0, 200_000)


@given(tokens, tokens, tokens, tokens, tokens, tokens, st.floats(1, 5000))
def test_the_size_is_always_between_4_and_60(
    total: int, pinned: int, genome: int, recalled: int, skills: int, buffer: int, mean: float
) -> None:
    size = window_size(total, pinned, genome, recalled, skills, buffer, mean_message=mean)
    assert FEWEST == 4 <= size <= 60 == MOST
    left = total - pinned - genome - recalled - skills - buffer
    assert size == FEWEST or size * mean <= left


def test_it_follows_the_mean_length_of_the_sessions_own_messages() -> None:
    assert window_size(4000) == 13
    assert window_size(4000, pinned=700, genome=400, recalled=800, response_buffer=600) == 5
    assert window_size(4000, mean_message=100) == 40
    assert window_size(1000, pinned=900, response_buffer=500) == 4


def test_a_session_without_messages_is_taken_to_have_long_ones() -> None:
    assert mean_message_tokens([]) == 300
    assert 10 < mean_message_tokens(talk("We moved the release to Thursday.", "> Noted, Thursday it is.")) < 20


@given(st.integers(0, 30), st.integers(0, 40))
def test_every_message_is_active_or_in_the_genome(count: int, size: int) -> None:
    messages = [said(f"Message number {i} tells of the orchard.", i) for i in range(count)]
    found = evict_and_compress(messages, size, empty())
    assert len(found.active) == min(count, size)
    assert [one.position for one in found.active] == list(range(count - len(found.active), count))
    assert found.evicted == found.genome.message_range.to == count - len(found.active)


def test_evicting_again_takes_in_only_what_left_since() -> None:
    messages = [said(f"Message number {i} tells of the orchard.", i) for i in range(20)]
    once = evict_and_compress(messages[:15], 10, empty())
    twice = evict_and_compress(messages, 10, once.genome)
    assert (once.evicted, twice.evicted) == (5, 5)
    assert twice.genome.version == 2
    assert evict_and_compress(messages, 10, twice.genome).genome is twice.genome
