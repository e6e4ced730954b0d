"""`ports.UserGenomeStore`."""

from datetime import timedelta
from functools import partial

import pytest

from chalicelib.adapters.memory.identity import InMemoryUserGenomeStore
from chalicelib.adapters.mongo.identity import MongoUserGenomeStore
from chalicelib.domain.genome.user import merge_session
from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.domain.keys import new_id
from chalicelib.ports import UserGenomeStore
from tests.building import AWKWARD_IDS, NOW
from tests.contract.racing import at_once
from tests.conversing import talk


@pytest.fixture(params=["twin", "mongo"])
def genomes(request: pytest.FixtureRequest) -> UserGenomeStore:
    """Every store of user genomes."""
    if request.param == "twin":
        return InMemoryUserGenomeStore()
    return MongoUserGenomeStore(request.getfixturevalue("mongo"))


def grown(user: str = "ana", merges: int = 1) -> UserGenome:
    """A genome after so many merges, with something of every kind in it."""
    genome = UserGenome(user_id=user)
    for i in range(merges):
        said = talk(f"My name is Ana Silva {i}.", "We decided to use Postgres 😀.", "I need to call the bank tomorrow.")
        own = [message.model_copy(update={"author": user}) for message in said]
        genome = merge_session(genome, f"s.{i}/$x", own, NOW + timedelta(hours=1))
    return genome


def test_a_user_has_no_genome_until_one_is_kept(genomes: UserGenomeStore, org: str) -> None:
    assert genomes.load(org, "ana") is None
    assert not genomes.delete(org, "ana")
    assert not genomes.put(org, grown(merges=2), 1)
    assert genomes.load(org, "ana") is None


def test_a_genome_comes_back_as_it_was_kept(genomes: UserGenomeStore, org: str) -> None:
    genome = grown(merges=3)
    assert all((genome.topics, genome.facts, genome.decisions, genome.action_items, genome.sessions))
    assert genomes.put(org, genome, 0)
    assert genomes.load(org, "ana") == genome


def test_it_is_replaced_only_where_it_has_the_version_expected(genomes: UserGenomeStore, org: str) -> None:
    assert genomes.put(org, grown(merges=1), 0)
    for expected in (0, 2, -1):
        assert not genomes.put(org, grown(merges=2), expected)
    assert genomes.load(org, "ana") == grown(merges=1)
    assert genomes.put(org, grown(merges=2), 1)
    assert not genomes.put(org, grown(merges=2), 1)
    assert genomes.load(org, "ana") == grown(merges=2)


@pytest.mark.parametrize("before", [0, 1])
def test_of_many_at_once_exactly_one_is_kept(genomes: UserGenomeStore, org: str, before: int) -> None:
    if before:
        assert genomes.put(org, grown(), 0)
    put = [grown(merges=before + 1).model_copy(update={"merges": 10 + i}) for i in range(8)]
    won = at_once(*(partial(genomes.put, org, one, before) for one in put))
    assert won.count(True) == 1
    assert genomes.load(org, "ana") == put[won.index(True)]


def test_every_user_of_every_organization_has_their_own(genomes: UserGenomeStore, org: str) -> None:
    orgs = (org, new_id("org"), f"{org}/user_genome", f"{org}/ana")
    names = [(each, user) for each in orgs for user in ("ana", "bob", *AWKWARD_IDS)]
    for i, (each, user) in enumerate(names):
        assert genomes.put(each, UserGenome(user_id=user, version=1, merges=i), 0)
    assert [genomes.load(*name).merges for name in names] == list(range(len(names)))  # type: ignore[union-attr]
    assert genomes.delete(org, "ana")
    assert [name for name in names if genomes.load(*name) is None] == [(org, "ana")]


def test_what_is_deleted_is_gone_and_what_comes_after_is_new(genomes: UserGenomeStore, org: str) -> None:
    assert genomes.put(org, grown(merges=2), 0)
    assert genomes.delete(org, "ana")
    assert genomes.load(org, "ana") is None
    assert not genomes.put(org, grown(merges=3), 2)
    assert genomes.put(org, grown(), 0)
    assert genomes.load(org, "ana") == grown()
