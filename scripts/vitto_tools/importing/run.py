"""An import as it goes: what is done of it, kept after each batch, and the report of what became of everything."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from vitto_tools.importing.conversion import Conversion, Item, LeftOut

BATCH = 100
BATCH_BYTES = 900_000  # a request may have 1 MB
TAKEN = frozenset({"stored", "updated", "superseded"})


@dataclass
class Run:
    """What is done: how many items, the outcomes, and what was not taken, with the reason."""

    id: str
    done: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    not_taken: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> "Run":
        """A run as `text` kept it."""
        said = json.loads(text)
        return cls(said["run"], said["done"], Counter(said["counts"]), said.get("notTaken", []))

    def text(self) -> str:
        """What keeps it."""
        return json.dumps({"run": self.id, "done": self.done, "counts": self.counts, "notTaken": self.not_taken})

    def take(self, batch: Sequence[Item], receipts: Sequence[dict[str, Any]]) -> None:
        """Count a batch with its receipts."""
        for item, receipt in zip(batch, receipts, strict=True):
            outcome = receipt["outcome"]
            self.counts[outcome] += 1
            if outcome not in TAKEN:
                self.not_taken.append({"where": item.where, "outcome": outcome, "reason": receipt.get("reason") or ""})
        self.done += len(batch)


def digest_of(items: Sequence[Item], **how: bool) -> str:
    """What tells these items, imported in this way, from any others."""
    made = hashlib.sha256(json.dumps(how, sort_keys=True).encode())
    for item in items:
        made.update(json.dumps([item.user, item.body], sort_keys=True).encode())
    return made.hexdigest()[:32]


def by_user(items: Sequence[Item]) -> list[Item]:
    """The items of each user together, in the order of the file."""
    order = {user: n for n, user in enumerate(dict.fromkeys(item.user for item in items))}
    return sorted(items, key=lambda item: order[item.user])


def next_batch(items: Sequence[Item], start: int) -> list[Item]:
    """The items from `start`, of one user, that fit into one request."""
    batch: list[Item] = []
    size = 0
    for item in items[start : start + BATCH]:
        size += len(json.dumps(item.body).encode()) + 2
        if batch and (size > BATCH_BYTES or item.user != batch[0].user):
            break
        batch.append(item)
    return batch


def report(shape: str, made: Conversion, run: Run) -> dict[str, Any]:
    """Everything that became of a file."""
    return {
        "shape": shape,
        "memories": len(made.items),
        "done": run.done,
        "outcomes": dict(sorted(run.counts.items())),
        "notTaken": run.not_taken,
        "leftOut": [_said(one) for one in made.left_out],
        "notKept": dict(sorted(made.not_kept.items())),
        "chunked": made.chunked,
    }


def _said(one: LeftOut) -> dict[str, str]:
    outcome = "invalid" if one.invalid else "skipped"
    return {"where": one.where, "outcome": outcome, "reason": one.reason, "text": one.text}
