"""What users say in sessions goes into their own genomes alone; the stable part of a prompt stands still meanwhile."""

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.genome.user import user_text
from chalicelib.domain.soul import Soul
from chalicelib.prompt.blocks import STABLE
from tests.building import caller, container
from tests.unit.test_sessions import append, asked, work

ANA, BOB = caller(user="ana", spaces=("red",)), caller(user="bob", spaces=("red",))
ANA_SAYS = (
    "I live in Porto with my sister Maria",
    "My dog is called Bruno",
    "We decided to move the launch to 14 May",
    "I am allergic to peanuts",
    "I work at Acme as a designer",
)
BOB_SAYS = (
    "I live in Oslo by the harbour",
    "My cat is called Miso",
    "I decided to sell the boat",
    "I am allergic to pollen",
    "I work at Globex as a welder",
)
TURNS = 50


def known(made: Container, who: Caller) -> str:
    """The user's genome as text; empty where there is none."""
    genome = made.user_genomes.of(who.org_id, who.user_id)
    return user_text(genome) if genome else ""


def prefix(made: Container, who: Caller, query: str, session: str) -> list[tuple[str, str]]:
    """The stable blocks of a turn."""
    prompt = asked(made, who, query, budget=4000, session=session, system="Answer in one sentence.").composed.prompt
    return [(block.name.value, block.text) for block in prompt.blocks if block.name in STABLE]


def test_two_users_of_one_session_each_have_a_genome_of_their_own_words() -> None:
    made = container()
    for number, (ana, bob) in enumerate(zip(ANA_SAYS, BOB_SAYS, strict=True)):
        append(made, ANA, ana, start=2 * number, spaceId="red")
        append(made, BOB, bob, start=2 * number + 1)
    work(made)
    assert "Porto" in known(made, ANA)
    assert "Oslo" in known(made, BOB)
    for text, others in (
        (known(made, ANA), ("Oslo", "Miso", "Globex")),
        (known(made, BOB), ("Porto", "Bruno", "Acme")),
    ):
        assert not [word for word in others if word in text]


def test_a_genome_is_merged_with_every_fifth_interaction_and_with_the_end() -> None:
    made = container()
    append(made, ANA, *ANA_SAYS[:4])
    append(made, ANA, *BOB_SAYS, start=10, role="assistant")
    work(made)
    assert known(made, ANA) == ""
    append(made, ANA, ANA_SAYS[4], start=4)
    work(made)
    after_five = known(made, ANA)
    assert "Porto" in after_five
    assert "Oslo" not in after_five, "what the assistant said is no fact of hers"
    append(made, ANA, "I moved to Braga", start=20)
    work(made)
    assert "Braga" not in known(made, ANA)
    for _ in range(2):
        made.conversation.sessions.end(ANA, "s1")
    assert "Braga" in known(made, ANA)
    genome = made.user_genomes.of(ANA.org_id, ANA.user_id)
    assert genome
    assert genome.merges == 2


def test_a_users_genome_follows_them_into_another_channel_and_nobody_else() -> None:
    made = container()
    append(made, ANA, *ANA_SAYS, session="telegram")
    work(made)
    append(made, ANA, "hello", session="web", spaceId="red")
    append(made, BOB, "hello", session="web", start=1)
    assert "Porto" in str(prefix(made, ANA, "what do you know?", "web"))
    assert "Porto" not in str(prefix(made, BOB, "what do you know?", "web"))
    append(made, BOB, "hello", session="own")
    assert "Porto" not in str(prefix(made, BOB, "what do you know?", "own"))


def test_the_stable_prefix_is_the_same_bytes_over_fifty_turns_in_which_memories_are_written() -> None:
    made = container()
    admin = caller(ANA.org_id, "root", Role.ADMIN)
    made.souls.put(admin, Soul(name="Vitto", character="calm and exact", values=("honesty",)))
    append(made, ANA, *ANA_SAYS, session="before")
    work(made)
    append(made, ANA, "Let us begin", session="long")
    first = prefix(made, ANA, "what did we decide?", "long")
    assert [name for name, _ in first] == ["soul", "system", "user"]
    for turn in range(TURNS):
        append(made, ANA, f"I bought boat number {turn} in harbour {turn % 7}", session="long", start=turn + 1)
        made.remember.remember(ANA, [{"content": f"Invoice {turn} was paid"}], key=None, single=False)
        work(made)
        assert prefix(made, ANA, f"which boat came after boat {turn}?", "long") == first
    assert "boat" in known(made, ANA), "her genome has grown meanwhile"


def test_who_asks_who_the_assistant_is_gets_all_of_the_soul() -> None:
    made = container()
    long = "patient " * 100
    made.souls.put(caller(ANA.org_id, "root", Role.ADMIN), Soul(name="Vitto", character=long.strip()))
    append(made, ANA, "hello")
    (brief, *_) = prefix(made, ANA, "when is the launch?", "s1")
    (full, *_) = prefix(made, ANA, "Who are you?", "s1")
    assert len(full[1]) > len(brief[1])
    assert long.strip() in full[1]
