"""The Soul of an organization: set up by its admins, read by its members, edited by nothing that is learned."""

from pydantic.alias_generators import to_camel

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.incoming import cleaned
from chalicelib.domain.soul import Soul, StoredSoul
from chalicelib.domain.text.cleaning import is_blank
from chalicelib.errors import InvalidInput
from chalicelib.ports import Clock, SoulStore
from chalicelib.write.audit import Auditor
from chalicelib.write.cleaning import checked_tags

_TEXTS = ("name", "character", "mood", "persona")


class Souls:
    """Reads and replaces Souls."""

    def __init__(self, store: SoulStore, auditor: Auditor, clock: Clock) -> None:
        self._store = store
        self._auditor = auditor
        self._clock = clock

    def of(self, org_id: str) -> StoredSoul | None:
        """The organization's Soul; None where no admin set one up."""
        return self._store.get(org_id)

    def put(self, caller: Caller, soul: Soul) -> tuple[StoredSoul, tuple[str, ...]]:
        """Replace the Soul of an admin's organization, an empty one taking it away: what is kept, and the kinds of secrets
        that were replaced in it.

        The audit says who did it, which fields are set, and the digest of the content, never the content. Forbidden without
        the admin role; InvalidInput names a text that is blank, no valid Unicode, or too long once it is cleaned."""
        caller.require(Role.ADMIN)
        soul, redacted = _checked(soul)
        kept = StoredSoul(soul=soul, updated_at=self._clock(), updated_by=caller.user_id)
        self._store.put(caller.org_id, kept)
        fields = [to_camel(name) for name in Soul.model_fields if getattr(soul, name)]
        details = {"digest": soul.digest, "fields": fields, "redacted": list(redacted)}
        self._auditor.record(caller, "put_soul", ["soul"], **details)
        return kept, redacted


def _checked(soul: Soul) -> tuple[Soul, tuple[str, ...]]:
    for name in _TEXTS:
        if (text := getattr(soul, name)) and is_blank(text):
            raise InvalidInput(name, "must not be blank; leave it out to have none")
    checked_tags(soul.values, "values")
    soul, redacted = cleaned(soul)
    return soul.model_copy(update={"values": checked_tags(soul.values, "values")}), redacted
