"""How long what waits, and what is over, stays; and what a run over such rows reports."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from chalicelib.domain.memory import RESTORABLE_DAYS, Memory

# spec/product.md "Review" and "Retention"
LOOKED_AT_AFTER = timedelta(days=30)
DELETED_AFTER = timedelta(days=90)
EVIDENCE_OF = timedelta(days=30)
SIMILAR_ENOUGH = 0.8
RESTORABLE = timedelta(days=RESTORABLE_DAYS)


class SweepOutcome(StrEnum):
    """What becomes of a quarantined row."""

    PROMOTED = "promoted"
    DELETED = "deleted"
    KEPT = "kept"
    UNDECIDED = "undecided"
    OVERTAKEN = "overtaken"


def judged(memory: Memory, similarity: float | None, now: datetime, *, compared: bool = True) -> SweepOutcome:
    """What the sweep does with a row that is looked at. `similarity` is that of the nearest evidence, None without any;
    `compared` is False where some of it could not be compared: then nothing is deleted for the lack of a match."""
    if not memory.is_held_for_injection:
        if similarity is not None and similarity > SIMILAR_ENOUGH:
            return SweepOutcome.PROMOTED
        if not compared:
            return SweepOutcome.UNDECIDED
    return SweepOutcome.DELETED if now - memory.held_since > DELETED_AFTER else SweepOutcome.KEPT


@dataclass
class SweepReport:
    """How many rows came to which end. `undecided` could not be compared and wait for the next run; `overtaken` were changed
    by somebody else meanwhile. Where `finished` is False, time was up, and the next run goes on there."""

    promoted: int = 0
    deleted: int = 0
    kept: int = 0
    undecided: int = 0
    overtaken: int = 0
    finished: bool = False
    dry_run: bool = False

    def count(self, outcome: SweepOutcome) -> None:
        """One more row of that end."""
        setattr(self, outcome.value, getattr(self, outcome.value) + 1)

    @property
    def done(self) -> int:
        """Rows that were changed."""
        return 0 if self.dry_run else self.promoted + self.deleted

    def body(self) -> dict[str, Any]:
        """The report on the wire."""
        names = ("promoted", "deleted", "kept", "undecided", "overtaken", "finished")
        return {"done": self.done, "dryRun": self.dry_run, **{name: getattr(self, name) for name in names}}


@dataclass
class PurgeReport:
    """How many forgotten rows were removed, and how many somebody else changed meanwhile."""

    purged: int = 0
    overtaken: int = 0
    finished: bool = False
    dry_run: bool = False

    @property
    def done(self) -> int:
        """Rows that were removed."""
        return 0 if self.dry_run else self.purged

    def body(self) -> dict[str, Any]:
        """The report on the wire."""
        names = ("purged", "overtaken", "finished")
        return {"done": self.done, "dryRun": self.dry_run, **{name: getattr(self, name) for name in names}}
