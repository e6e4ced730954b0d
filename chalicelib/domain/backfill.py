"""How far the backfill of an organization's embeddings is: what callers are told, and where the next batch begins."""

from enum import StrEnum

from pydantic import Field

from chalicelib.domain.wire import UtcTime, Wire


class BackfillState(StrEnum):
    """`idle`: it never ran here. `running`: begun and not at its end, whether or not somebody works on it now."""

    IDLE = "idle"
    RUNNING = "running"
    FINISHED = "finished"


class BackfillProgress(Wire):
    """The latest run for one organization. `done` and `failed` count its rows, `cut` those of `done` whose vectors were cut
    from longer ones without the embedder; `total` is what lacked vectors when it began, `left` what does now."""

    org_id: str
    model: str = Field(description="the model and size of the vectors that it gives")
    state: BackfillState = BackfillState.IDLE
    total: int = 0
    done: int = 0
    cut: int = 0
    failed: int = Field(default=0, description="rows that the embedder refused; the next run tries them again")
    left: int = 0
    started_at: UtcTime | None = None
    updated_at: UtcTime | None = None


class BackfillCheckpoint(Wire):
    """What is kept of a run: its progress, the id that its last batch ended with, and how often it was written."""

    progress: BackfillProgress
    after: str = ""
    version: int = 0
