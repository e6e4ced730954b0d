"""Claims are stored with the row: those of its caller, else what its text makes plain, whatever changes the text."""

from typing import Any

from chalicelib.bootstrap import Container
from chalicelib.domain.memory import Claim
from chalicelib.plugins.hooks import AdmissionChange, Candidate, hook
from chalicelib.settings import Settings
from tests.building import caller, container, in_memory_ports

ANA = caller()
BRAGA = {"subject": "Ana", "attribute": "lives in", "value": "Braga"}


def told(services: Container, content: str, **item: Any) -> str:
    """The id of where a content is now."""
    (receipt,) = services.remember.remember(ANA, [{"content": content, **item}], key=None, single=True)
    return str(receipt["id"])


def claims(services: Container, id_: str) -> list[tuple[str, str, str]]:
    """The claims of a memory, as a reader is told."""
    body = services.editor.read(ANA, id_).model_dump(mode="json", by_alias=True)
    return [(one["subject"], one["attribute"], one["value"]) for one in body["claims"]]


def test_what_a_text_makes_plain_is_stored_with_it_and_nothing_else_is() -> None:
    services = container()
    assert claims(services, told(services, "Ana moved to Porto in May")) == [("ana", "residence", "Porto")]
    assert claims(services, told(services, "Bob said that Eve might live in Faro")) == []


def test_claims_of_the_caller_are_stored_as_they_came() -> None:
    services = container()
    assert claims(services, told(services, "Ana moved to Porto", claims=[BRAGA])) == [("Ana", "lives in", "Braga")]


def test_an_edit_of_the_text_finds_them_anew() -> None:
    services = container()
    id_ = told(services, "Ana moved to Porto")
    services.editor.edit(ANA, id_, {"tags": ["home"]}, 1)
    assert claims(services, id_) == [("ana", "residence", "Porto")]
    services.editor.edit(ANA, id_, {"content": "Ana moved to Faro"}, 2)
    assert claims(services, id_) == [("ana", "residence", "Faro")]
    services.editor.edit(ANA, id_, {"content": "It rains in Faro today, says the radio"}, 3)
    assert claims(services, id_) == []
    services.editor.restore_revision(ANA, id_, 1, 4)
    assert claims(services, id_) == [("ana", "residence", "Porto")]


def test_an_edit_leaves_claims_of_the_caller() -> None:
    services = container()
    id_ = told(services, "Ana moved to Porto", claims=[BRAGA])
    services.editor.edit(ANA, id_, {"content": "Ana moved to Faro"}, 1)
    assert claims(services, id_) == [("Ana", "lives in", "Braga")]


def test_what_merges_into_a_memory_brings_its_claims_unless_a_caller_gave_others() -> None:
    services = container()
    first = told(services, "Bob works at Acme")
    assert told(services, "Bob works at Acme, in the warehouse near the harbour") == first
    assert claims(services, first) == [("bob", "employer", "Acme")]
    given = {"subject": "Bob", "attribute": "works at", "value": "Acme"}
    services = container()
    first = told(services, "Bob works at Acme", claims=[given])
    assert told(services, "Bob works at Acme, in the warehouse near the harbour") == first
    assert claims(services, first) == [("Bob", "works at", "Acme")]


class Rewriting:
    """Puts other words, and where asked other claims, in place of what it is shown."""

    name = "rewriting"
    description = "Puts other words in place."

    def __init__(self, **update: Any) -> None:
        self.update = update

    @hook
    def on_memory_admission(self, candidate: Candidate) -> AdmissionChange:
        """Build the memory anew, as plugins may that know its wire form alone."""
        body = candidate.memory.model_dump(mode="json", by_alias=True) | self.update
        return AdmissionChange(memory=type(candidate.memory).model_validate(body))


def test_claims_follow_what_a_plugin_makes_of_a_text() -> None:
    services = Container(Settings(), in_memory_ports(), plugins=[Rewriting(content="Ana moved to Faro")])
    assert claims(services, told(services, "Ana moved to Porto")) == [("ana", "residence", "Faro")]


def test_claims_that_a_plugin_gives_are_given() -> None:
    services = Container(Settings(), in_memory_ports(), plugins=[Rewriting(claims=[BRAGA])])
    id_ = told(services, "Ana moved to Porto")
    services.editor.edit(ANA, id_, {"content": "Ana moved to Faro"}, 1)
    stored = services.editor.read(ANA, id_)
    assert stored.claims == (Claim(subject="Ana", attribute="lives in", value="Braga"),)
