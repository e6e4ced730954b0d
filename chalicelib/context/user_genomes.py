"""The genomes of users: what they say in a session is taken in once, and each is shown to its user and to admins alone."""

from collections.abc import Callable, Sequence

from chalicelib.domain.caller import Caller
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.user import current, merge_session
from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.errors import Conflict, NotFound
from chalicelib.ports import Clock, UserGenomeStore

ATTEMPTS = 10  # of one merge, where sessions of one user are merged at once
Merged = Callable[[str, UserGenome], None]


def nothing(_org_id: str, _genome: UserGenome) -> None:
    """What follows a merge where nothing does."""


class UserGenomes:
    """Reads, merges and deletes them. `merged` is told the organization and the genome after every merge that changed it,
    and must not raise."""

    def __init__(self, store: UserGenomeStore, clock: Clock, merged: Merged = nothing) -> None:
        self._store = store
        self._clock = clock
        self._merged = merged

    def of(self, org_id: str, user_id: str) -> UserGenome | None:
        """The user's genome without topics untouched for seven days; None where nothing was taken in yet."""
        genome = self._store.load(org_id, user_id)
        return genome and current(genome, self._clock())

    def shown_to(self, caller: Caller, user_id: str) -> UserGenome:
        """The genome of a user of the caller's organization, for that user and for admins. NotFound for everybody else, as
        where there is none."""
        own = caller.user_id == user_id
        genome = self.of(caller.org_id, user_id) if own or caller.is_admin else None
        if genome is None:
            raise NotFound("no genome of such a user")
        return genome

    def merged_to(self, org_id: str, user_id: str, session: str) -> int:
        """From which position on the messages of a session are new to the user's genome."""
        genome = self._store.load(org_id, user_id)
        return genome.merged_to(session) if genome else 0

    def merge(self, org_id: str, user_id: str, session: str, messages: Sequence[SessionMessage]) -> UserGenome | None:
        """Take in what the user said in a session since it was last merged; the genome then, None where there still is none.

        `messages` are the session's own, as its store has them, from `merged_to` on or from any earlier position. They, and
        not the session's genome, are the source: a session genome says who said an entry in the entry's text alone, joins
        what several people say of a topic, and counts words of all of them, so nothing of it is surely one user's. Of what
        is handed in only messages with the role of a user and this `author` are read, whatever else is among them;
        `author` has to be who the credential said, never a name that a client sent. `session` names the session for good:
        where one can be deleted and begun again under its id, it is what tells the two apart.

        A repeat changes nothing. Of several merges at once each is taken in. Conflict after ten attempts that others
        overtook: the caller may try later."""
        for _ in range(ATTEMPTS):
            before = self._store.load(org_id, user_id) or UserGenome(user_id=user_id)
            after = merge_session(before, session, messages, self._clock())
            if after is before:
                return before if before.version else None
            if self._store.put(org_id, after, before.version):
                self._merged(org_id, after)
                return after
        raise Conflict("the user's genome changes faster than this merge; try again later")

    def delete(self, org_id: str, user_id: str) -> bool:
        """Remove a user's genome; whether there was one. What is merged afterwards begins a new one."""
        return self._store.delete(org_id, user_id)
