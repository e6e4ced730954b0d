"""The Souls of organizations in this process, with the promises of the real store."""

from chalicelib.domain.soul import StoredSoul


class InMemorySoulStore:
    """`ports.SoulStore`."""

    def __init__(self) -> None:
        self._souls: dict[str, StoredSoul] = {}

    def get(self, org_id: str) -> StoredSoul | None:
        return self._souls.get(org_id)

    def put(self, org_id: str, soul: StoredSoul) -> None:
        self._souls[org_id] = soul
