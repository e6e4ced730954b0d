"""The genomes of users as a service: taken in once, never from others, and shown to their user and to admins alone."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from chalicelib.adapters.memory.identity import InMemoryUserGenomeStore
from chalicelib.bootstrap import Container
from chalicelib.context.user_genomes import UserGenomes
from chalicelib.domain.caller import Role
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.user import MAX_TOKENS, user_text
from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.errors import Conflict, NotFound
from tests.building import TestClock, caller, container
from tests.contract.racing import at_once
from tests.conversing import said, talk

SHARED = [
    said("I live in Porto with my dog Rex.", 0, "ana"),
    said("I live in Faro with my cat Mia.", 1, "bob"),
    said("Ana, you live in Tallinn with a parrot.", 2, None),
]


def text(made: Container | UserGenomes, user: str = "ana", org: str = "acme") -> str:
    """What a user's genome says; empty where there is none."""
    genomes = made.user_genomes if isinstance(made, Container) else made
    genome = genomes.of(org, user)
    return user_text(genome) if genome else ""


def test_what_a_user_says_follows_them_from_session_to_session() -> None:
    made = container()
    assert made.user_genomes.of("acme", "ana") is None
    made.user_genomes.merge("acme", "ana", "s1", talk("My name is Ana Silva."))
    genome = made.user_genomes.merge("acme", "ana", "s2", talk("We decided to use Postgres for billing."))
    assert genome == made.user_genomes.of("acme", "ana")
    assert "Ana Silva" in text(made)
    assert "Postgres" in text(made)


def test_of_a_shared_session_each_gets_their_own_words_and_nobody_anothers() -> None:
    made = container()
    for user in ("ana", "bob", "eve"):
        made.user_genomes.merge("acme", user, "s1", SHARED)
    assert made.user_genomes.of("acme", "eve") is None
    ana, bob = text(made), text(made, "bob")
    assert [word in ana for word in ("Porto", "Rex", "Faro", "Mia", "Tallinn", "parrot")] == [True, True] + [False] * 4
    assert [word in bob for word in ("Faro", "Mia", "Porto", "Rex", "Tallinn", "parrot")] == [True, True] + [False] * 4


def test_a_message_of_the_assistant_is_not_its_users_whatever_author_it_names() -> None:
    made = container()
    message = said("I live in Tallinn with a parrot.").model_copy(update={"role": "assistant"})
    assert made.user_genomes.merge("acme", "ana", "s1", [message]) is None


def test_one_organization_sees_and_deletes_nothing_of_another() -> None:
    made = container()
    made.user_genomes.merge("acme", "ana", "s1", talk("My name is Ana Silva."))
    assert made.user_genomes.of("other", "ana") is None
    assert made.user_genomes.merged_to("other", "ana", "s1") == 0
    assert not made.user_genomes.delete("other", "ana")
    made.user_genomes.merge("other", "ana", "s1", talk("My name is Ana Costa."))
    assert ("Silva" in text(made), "Costa" in text(made)) == (True, False)


def test_the_same_session_twice_changes_nothing_and_its_new_messages_are_added() -> None:
    told: list[int] = []
    genomes = UserGenomes(InMemoryUserGenomeStore(), TestClock(), lambda _, genome: told.append(genome.merges))
    messages = talk("My name is Ana Silva.", "> Nice to meet you.", "I live in Porto.")
    once = genomes.merge("acme", "ana", "s1", messages[:2])
    assert genomes.merge("acme", "ana", "s1", messages[:2]) == once
    assert genomes.merged_to("acme", "ana", "s1") == 1
    twice = genomes.merge("acme", "ana", "s1", messages)
    assert twice == genomes.merge("acme", "ana", "s1", messages[2:])
    assert (twice.version, twice.merges) == (2, 2)  # type: ignore[union-attr]
    assert "Porto" in text(genomes)
    assert told == [1, 2]


def test_sessions_that_are_merged_at_once_are_all_taken_in() -> None:
    made = container()
    towns = ("Porto", "Faro", "Braga", "Evora", "Lagos", "Tavira", "Sintra", "Aveiro")
    merges: list[Callable[[], UserGenome | None]] = [
        partial(made.user_genomes.merge, "acme", "ana", f"s{i}", talk(f"My aunt number {i} is called {town} Costa."))
        for i, town in enumerate(towns)
    ]
    at_once(*merges)
    genome = made.user_genomes.of("acme", "ana")
    assert genome is not None
    assert (genome.merges, genome.version) == (8, 8)
    assert [town for town in towns if town not in user_text(genome)] == []


class Overtaken(InMemoryUserGenomeStore):
    """A store in which another merge is always first."""

    def load(self, org_id: str, user_id: str) -> UserGenome | None:
        found = super().load(org_id, user_id) or UserGenome(user_id=user_id)
        self.put(org_id, found.model_copy(update={"version": found.version + 1}), found.version)
        return found


def test_a_merge_that_is_always_overtaken_gives_up_and_says_so() -> None:
    with pytest.raises(Conflict):
        UserGenomes(Overtaken(), TestClock()).merge("acme", "ana", "s1", talk("My name is Ana Silva."))


def test_topics_that_nobody_touched_for_seven_days_are_not_shown() -> None:
    clock = TestClock()
    made = container(clock=clock)
    made.user_genomes.merge("acme", "ana", "s1", talk("The orchard behind the school needs new apple trees."))
    assert "orchard" in text(made)
    clock.forward(days=8)
    assert "orchard" not in text(made)
    made.user_genomes.merge("acme", "ana", "s2", talk("My name is Ana Silva.", at=clock()))
    kept = made.ports.user_genomes.load("acme", "ana")
    assert kept is not None
    assert "orchard" not in user_text(kept)


def test_however_much_is_merged_it_keeps_to_1000_tokens() -> None:
    made = container()
    for s in range(12):
        messages: list[SessionMessage] = talk(*(f"My harbour number {9 * s + i} has {7 * i} boats." for i in range(12)))
        genome = made.user_genomes.merge("acme", "ana", f"s{s}", messages)
        assert genome is not None
        assert genome.token_count <= MAX_TOKENS


def test_a_genome_is_there_for_its_user_and_for_admins_alone() -> None:
    made = container()
    made.user_genomes.merge("acme", "ana", "s1", talk("My name is Ana Silva."))
    readers = (caller(), caller("acme", "ana", Role.OBSERVER), caller("acme", "root", Role.ADMIN))
    for reader in readers:
        assert "Ana Silva" in user_text(made.user_genomes.shown_to(reader, "ana"))
    strangers = (
        caller("acme", "bob"),
        caller("acme", "bob", Role.REVIEWER),
        caller("acme", "root", Role.ADMIN, Role.OBSERVER),
        caller("other", "ana"),
        caller("other", "root", Role.ADMIN),
    )
    for stranger in strangers:
        with pytest.raises(NotFound) as refused:
            made.user_genomes.shown_to(stranger, "ana")
        with pytest.raises(NotFound) as missing:
            made.user_genomes.shown_to(stranger, "nobody")
        assert refused.value.args == missing.value.args


def test_reading_writes_nothing() -> None:
    clock = TestClock()
    made = container(clock=clock)
    made.user_genomes.merge("acme", "ana", "s1", talk("The orchard behind the school needs new apple trees."))
    before = made.ports.user_genomes.load("acme", "ana")
    clock.forward(days=timedelta(days=30).days)
    made.user_genomes.shown_to(caller(), "ana")
    assert made.ports.user_genomes.load("acme", "ana") == before


def test_a_deleted_genome_is_gone_and_the_next_merge_begins_anew() -> None:
    made = container()
    made.user_genomes.merge("acme", "ana", "s1", talk("My name is Ana Silva."))
    assert made.user_genomes.delete("acme", "ana")
    assert made.user_genomes.of("acme", "ana") is None
    genome = made.user_genomes.merge("acme", "ana", "s2", talk("I live in Porto."))
    assert genome is not None
    assert genome.version == 1
    assert "Silva" not in text(made)
