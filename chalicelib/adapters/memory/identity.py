"""The Souls of organizations and the genomes of users in this process, with the promises of the real stores."""

import threading

from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.domain.soul import StoredSoul


class InMemorySoulStore:
    """`ports.SoulStore`."""

    def __init__(self) -> None:
        self._souls: dict[str, StoredSoul] = {}

    def get(self, org_id: str) -> StoredSoul | None:
        return self._souls.get(org_id)

    def put(self, org_id: str, soul: StoredSoul) -> None:
        self._souls[org_id] = soul


class InMemoryUserGenomeStore:
    """`ports.UserGenomeStore`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._genomes: dict[tuple[str, str], UserGenome] = {}

    def load(self, org_id: str, user_id: str) -> UserGenome | None:
        return self._genomes.get((org_id, user_id))

    def put(self, org_id: str, genome: UserGenome, expected_version: int) -> bool:
        name = org_id, genome.user_id
        with self._lock:
            kept = self._genomes.get(name)
            if (kept.version if kept else 0) != expected_version:
                return False
            self._genomes[name] = genome
            return True

    def delete(self, org_id: str, user_id: str) -> bool:
        with self._lock:
            return self._genomes.pop((org_id, user_id), None) is not None
