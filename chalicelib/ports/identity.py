"""Who the assistant of an organization is, and what is kept of each of its users across sessions."""

from typing import Protocol

from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.domain.soul import StoredSoul


class SoulStore(Protocol):
    """The Soul of each organization. None sees another's."""

    def get(self, org_id: str) -> StoredSoul | None:
        """The organization's Soul; None where no admin set one up."""

    def put(self, org_id: str, soul: StoredSoul) -> None:
        """Replace the organization's Soul, whole: of two at once one stands, never a mixture."""


class UserGenomeStore(Protocol):
    """The genome of each user, found by organization and user and by nothing else."""

    def load(self, org_id: str, user_id: str) -> UserGenome | None: ...

    def put(self, org_id: str, genome: UserGenome, expected_version: int) -> bool:
        """Keep `genome`, of its `user_id`, where the one that is kept has the version expected, 0 where none is kept;
        whether it did. Of several at once that expect the same exactly one does."""

    def delete(self, org_id: str, user_id: str) -> bool:
        """Remove the genome; whether there was one."""
