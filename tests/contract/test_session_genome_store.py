"""`ports.SessionGenomeStore`: the genome that was read is the one that is replaced, or nothing is."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.adapters.memory.sessions import InMemorySessionGenomeStore
from chalicelib.adapters.mongo.session_genomes import MongoSessionGenomeStore
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.genome.update import incremental_update
from chalicelib.ports import SessionGenomeStore
from tests.sessioning import draft, session


@pytest.fixture(params=["twin", "mongo"])
def genomes(request: pytest.FixtureRequest) -> SessionGenomeStore:
    """Every store of genomes. MongoDB's is shared, so a test writes under its own organization."""
    if request.param == "twin":
        return InMemorySessionGenomeStore()
    return MongoSessionGenomeStore(request.getfixturevalue("mongo"))


def genome(messages: int = 1) -> ConversationGenome:
    """A genome of so many versions."""
    made = ConversationGenome(session_id="s1", user_id="ana")
    for n in range(messages):
        said = draft(f"m{n}", f"We decided to meet at {n} o'clock in Porto, 寿司 too").placed(n).message
        made = incremental_update(made, [said])
    return made


def test_a_genome_is_read_as_it_was_put(genomes: SessionGenomeStore, org: str) -> None:
    key, made = session(org).key, genome(3)
    assert genomes.load(key) is None
    assert genomes.put(key, made, 0)
    assert genomes.load(key) == made
    assert genomes.load(session(org).key) is None


def test_only_the_version_that_was_read_is_replaced(genomes: SessionGenomeStore, org: str) -> None:
    key = session(org).key
    assert not genomes.put(key, genome(2), 1)
    assert genomes.put(key, genome(1), 0)
    assert not genomes.put(key, genome(1), 0)
    assert genomes.put(key, genome(2), 1)
    assert not genomes.put(key, genome(3), 1)
    assert genomes.load(key) == genome(2)


def test_of_many_at_once_one_has_its_way(genomes: SessionGenomeStore, org: str) -> None:
    key = session(org).key
    for expected in (0, 1):
        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(lambda _, v=expected: genomes.put(key, genome(v + 1), v), range(8)))
        assert sum(done) == 1


def test_a_removed_genome_is_gone(genomes: SessionGenomeStore, org: str) -> None:
    key = session(org).key
    genomes.put(key, genome(), 0)
    assert genomes.remove(key)
    assert not genomes.remove(key)
    assert genomes.load(key) is None
    assert not genomes.put(key, genome(2), 1)
