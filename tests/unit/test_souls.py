"""The Soul of an organization: an admin's to set up, cleaned and redacted as all that comes in, audited without contents."""

from typing import Any

import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.soul import Soul
from chalicelib.errors import Forbidden, InvalidInput
from chalicelib.prompt.soul import soul_brief
from tests.building import NOW, caller, container
from tests.unit.fake_secrets import AWS_KEY

ROOT = caller("acme", "root", Role.ADMIN)
VITTO = Soul(name="Vitto", character="warm", values=("honesty",), mood="calm", persona="a colleague")


def events(made: Container, org: str = "acme") -> list[dict[str, Any]]:
    """The audit of an organization."""
    return [event.model_dump() for event in made.ports.audit.list(org, None, 10).items]


def test_what_an_admin_sets_up_is_what_the_organization_has() -> None:
    made = container()
    assert made.souls.of("acme") is None
    kept, redacted = made.souls.put(ROOT, VITTO)
    assert (kept.soul, kept.updated_by, kept.updated_at, redacted) == (VITTO, "root", NOW, ())
    assert made.souls.of("acme") == kept
    assert made.souls.of("other") is None
    (event,) = events(made)
    assert (event["action"], event["actor"], event["target"]) == ("put_soul", "root", "soul")
    assert event["details"]["digest"] == VITTO.digest
    assert event["details"]["fields"] == ["name", "character", "values", "mood", "persona"]
    assert "colleague" not in str(event)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.REVIEWER, Role.OBSERVER])
def test_nobody_but_an_admin_sets_one_up(role: Role) -> None:
    made = container()
    with pytest.raises(Forbidden):
        made.souls.put(caller("acme", "ana", role), VITTO)
    assert made.souls.of("acme") is None
    assert events(made) == []


def test_an_admin_of_one_organization_changes_none_of_another() -> None:
    made = container()
    made.souls.put(ROOT, VITTO)
    made.souls.put(caller("other", "root", Role.ADMIN), Soul(name="Otto"))
    assert [made.souls.of(org).soul.name for org in ("acme", "other")] == ["Vitto", "Otto"]  # type: ignore[union-attr]
    assert [len(events(made, org)) for org in ("acme", "other")] == [1, 1]


def test_every_text_is_cleaned_and_redacted_before_it_is_kept() -> None:
    made = container()
    sent = Soul(
        name=" Vitto\x00 ",
        character=f"cafe\u0301, key {AWS_KEY}",
        values=("honesty ", "honesty", f"uses {AWS_KEY}"),
        persona="a\r\nb",
    )
    kept, redacted = made.souls.put(ROOT, sent)
    assert redacted == ("aws_access_key",)
    placeholder = "[REDACTED:aws_access_key]"
    assert kept.soul == Soul(
        name="Vitto",
        character=f"café, key {placeholder}",
        values=("honesty", f"uses {placeholder}"),
        persona="a\nb",
    )
    assert AWS_KEY not in str((made.souls.of("acme"), events(made), soul_brief(kept.soul)))
    assert events(made)[0]["details"]["redacted"] == ["aws_access_key"]


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"name": "  "}, "name"),
        ({"persona": "\u200b"}, "persona"),
        ({"values": ["honesty", " \t"]}, "values.1"),
        ({"values": ["\x00\x01"]}, "values.0"),
        ({"mood": f"{'m' * 175} {AWS_KEY}"}, "mood"),  # the placeholder is longer than the secret
    ],
)
def test_a_text_that_cannot_be_kept_is_named_and_the_soul_stays_as_it_was(sent: dict[str, Any], field: str) -> None:
    made = container()
    made.souls.put(ROOT, VITTO)
    with pytest.raises(InvalidInput) as refused:
        made.souls.put(ROOT, Soul.model_validate(sent))
    assert refused.value.field == field
    assert made.souls.of("acme").soul == VITTO  # type: ignore[union-attr]


def test_an_empty_one_takes_it_away() -> None:
    made = container()
    made.souls.put(ROOT, VITTO)
    kept, _ = made.souls.put(ROOT, Soul())
    assert kept.soul.is_empty
    assert soul_brief(kept.soul) == ""
    assert events(made)[0]["details"]["fields"] == []


def test_the_digest_names_the_content() -> None:
    assert Soul(**VITTO.model_dump()).digest == VITTO.digest
    others = [VITTO.model_copy(update={name: ("x",) if name == "values" else "x"}) for name in Soul.model_fields]
    assert len({VITTO.digest, Soul().digest, *(one.digest for one in others)}) == len(others) + 2
