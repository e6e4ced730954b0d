"""Who the assistant of an organization is, and what is kept of each of its users across sessions."""

from typing import Protocol

from chalicelib.domain.soul import StoredSoul


class SoulStore(Protocol):
    """The Soul of each organization. None sees another's."""

    def get(self, org_id: str) -> StoredSoul | None:
        """The organization's Soul; None where no admin set one up."""

    def put(self, org_id: str, soul: StoredSoul) -> None:
        """Replace the organization's Soul, whole: of two at once one stands, never a mixture."""
