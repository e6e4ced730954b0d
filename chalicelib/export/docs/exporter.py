"""The docs export of an organization: begun by an admin, worked on in steps by whoever has time.

A run has a checkpoint in the ledger. Any number of processes may work on it, be killed, and go on: files are put at their
paths whatever was there, and of two that did the same step one counts it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from chalicelib.domain.budget import budget
from chalicelib.domain.docs import (
    SHOWN_FAILURES,
    DocsCheckpoint,
    DocsExportProgress,
    DocsExportRequest,
    DocsExportState,
    DocsPosition,
    DocsSelection,
    RefusedFile,
    ScopeManifest,
)
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.tasks import ExportDocs
from chalicelib.errors import Conflict, InProgress, NotFound, StoreUnavailable, VittoError
from chalicelib.export.docs.batching import Batch
from chalicelib.export.docs.walking import Walk
from chalicelib.ports import Clock, DocsLedger, DocsSource, DocsTarget, MemoryStore, TaskQueue, Telemetry

REQUEST_SECONDS = 5.0  # what a request works itself before it leaves the rest to the queue
TASK_SECONDS = 30.0  # what a message works before another takes over, well within its visibility
STEP_SECONDS = 3.0  # of reading and rendering, before what there is is sent
TASK_LIMIT_SECONDS = 75.0  # with the last step and its repeats; a function of the queue has 120
STORE = "docs"
WITHDRAWN_AT_ONCE = 100


class DocsExporter:
    """`target` is None where the settings name none; `queue` where none is configured: then a request goes on with what an
    earlier one began."""

    def __init__(
        self,
        *,
        source: DocsSource,
        store: MemoryStore,
        ledger: DocsLedger,
        target: DocsTarget | None,
        queue: TaskQueue | None,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        self._source = source
        self._ledger = ledger
        self._given_target = target
        self._queue = queue
        self._telemetry = telemetry
        self._clock = clock
        self._walk = Walk(source=source, store=store, ledger=ledger, clock=clock)

    def progress(self, org_id: str) -> DocsExportProgress:
        """How far the organization's latest run is. Conflict where there is no target."""
        return self._checkpoint(org_id).progress

    def manifests(self, org_id: str, *, after: str = "", limit: int = 100) -> list[ScopeManifest]:
        """What stands at the target, scope by scope, after the scope of that key."""
        destination, found = self._target.destination(org_id), list[ScopeManifest]()
        for kind in Scope:
            left = limit - len(found)
            found += self._ledger.manifests(destination, org_id, kind, after=after, limit=left) if left else []
        return found

    def start(self, org_id: str, asked: DocsExportRequest) -> DocsExportProgress:
        """Begin a run, or go on with the one that is under way: a few seconds here, the rest on the queue. InProgress where
        another selection is under way, NotFound for a scope that is none, Conflict where there is no target, or it is
        another organization's."""
        self.begin(org_id, asked)
        until = self._clock() + timedelta(seconds=REQUEST_SECONDS)
        try:
            progress = self._work(org_id, until)
        except StoreUnavailable as error:  # the queue tries it again
            if error.store != STORE:
                raise
            progress = self._stopped(org_id, error)
        if progress.state is DocsExportState.RUNNING:
            self._go_on_later(org_id)
        return progress

    def begin(self, org_id: str, asked: DocsExportRequest) -> DocsExportProgress:
        """The run under way, or a new one; nothing is sent yet."""
        before = self._checkpoint(org_id)
        if before.progress.state is DocsExportState.RUNNING and not asked.restart:
            if before.progress.selection != asked.selection:
                raise InProgress("an export of other scopes is under way; restart ends it")
            return before.progress
        self._require(org_id, asked.selection)
        now = self._clock()
        progress = DocsExportProgress(
            org_id=org_id,
            destination=before.progress.destination,
            selection=asked.selection,
            state=DocsExportState.RUNNING,
            total=self._source.count(org_id, asked.selection),
            started_at=now,
            updated_at=now,
        )
        self._keep(before, progress, DocsPosition(), everything=asked.restart)
        return self._checkpoint(org_id).progress

    def go_on(self, org_id: str) -> None:
        """The part of a message: work for a while, and send another where more is left. StoreUnavailable where the target is
        down, so that the message comes again later."""
        try:
            with budget(TASK_LIMIT_SECONDS):
                progress = self._work(org_id, self._clock() + timedelta(seconds=TASK_SECONDS))
        except StoreUnavailable as error:
            if error.store == STORE:
                self._stopped(org_id, error)
            raise
        if progress.state is DocsExportState.RUNNING:
            self._go_on_later(org_id)

    def withdraw(self, org_id: str, scope_key: str) -> int:
        """Remove a scope's files from the target; how many. StoreUnavailable where it does not answer, or keeps one."""
        target = self._given_target
        if target is None or not target.exists(org_id):
            return 0
        destination = target.destination(org_id)
        paths = [file.path for file in self._ledger.manifest(destination, scope_key).files]
        for start in range(0, len(paths), WITHDRAWN_AT_ONCE):
            if refused := target.sync(org_id, (), paths[start : start + WITHDRAWN_AT_ONCE]):
                raise StoreUnavailable(STORE, f"it would not remove {len(refused)} files")
        self._ledger.keep_manifest(destination, ScopeManifest(scope_key=scope_key))
        return len(paths)

    def step(self, org_id: str) -> DocsExportProgress:
        """One batch of the run under way; the progress then. StoreUnavailable where the target is down: the batch stays
        to be done."""
        before = self._checkpoint(org_id)
        if before.progress.state is not DocsExportState.RUNNING:
            return before.progress
        before = self._ready(org_id, before)
        batch, done = self._next_batch(before)
        refused = self._sent(org_id, before.progress.destination, batch)
        progress = self._counted(before.progress, batch, refused, done=done)
        position = batch.position if batch.pieces else before.position
        self._keep(before, progress, position, everything=before.everything)
        return self._checkpoint(org_id).progress

    def _work(self, org_id: str, until: datetime) -> DocsExportProgress:
        progress = self._checkpoint(org_id).progress
        while progress.state is DocsExportState.RUNNING and self._clock() < until:
            progress = self.step(org_id)
        return progress

    @property
    def _target(self) -> DocsTarget:
        if self._given_target is None:
            raise Conflict("there is no target for exports: VITTO_DOCS_URL is not set")
        return self._given_target

    def _ready(self, org_id: str, found: DocsCheckpoint) -> DocsCheckpoint:
        """The run with its place made. Where that was missing everything is sent, from the beginning; it is kept so before
        the place is made, or a process that dies in between would leave it half empty."""
        if self._target.exists(org_id):
            return found
        counts = dict.fromkeys(("scopes", "files", "memories", "tokens", "sent", "removed", "failed"), 0)
        fresh = found.progress.model_copy(update={**counts, "failures": ()})
        self._keep(found, fresh, DocsPosition(), everything=True)
        self._target.create(org_id)
        return self._checkpoint(org_id)

    def _next_batch(self, found: DocsCheckpoint) -> tuple[Batch, bool]:
        """What comes next, as much as fits into a batch and a step's time; whether that is all."""
        progress, batch = found.progress, Batch(found.everything)
        until = self._clock() + timedelta(seconds=STEP_SECONDS)
        pieces = self._walk.pieces(progress.destination, progress.org_id, progress.selection, found.position)
        for piece in pieces:
            key = piece.position.scope_key
            batch.add(piece, batch.manifests.get(key) or self._ledger.manifest(progress.destination, key))
            if batch.is_full or self._clock() > until:
                return batch, False
        return batch, True

    def _sent(self, org_id: str, destination: str, batch: Batch) -> Mapping[str, str]:
        """Send what has to be; what was refused, and why."""
        refused: Mapping[str, str] = {}
        if batch.files or batch.deletions:
            for manifest in batch.announced():
                self._ledger.keep_manifest(destination, manifest)
            refused = self._target.sync(org_id, batch.files, batch.deletions)
        for manifest in batch.settled(refused):
            if manifest != batch.manifests[manifest.scope_key]:
                self._ledger.keep_manifest(destination, manifest)
        return refused

    def _counted(
        self, old: DocsExportProgress, batch: Batch, refused: Mapping[str, str], *, done: bool
    ) -> DocsExportProgress:
        files = [piece.file for piece in batch.pieces if piece.file]
        failures = [RefusedFile(path=path, reason=reason) for path, reason in sorted(refused.items())]
        ended = sum(piece.position.done and bool(piece.file) for piece in batch.pieces)
        return old.model_copy(
            update={
                "state": DocsExportState.FINISHED if done else DocsExportState.RUNNING,
                "scopes": old.scopes + ended,
                "files": old.files + len(files),
                "memories": old.memories + sum(file.memories for file in files),
                "tokens": old.tokens + sum(file.listed.tokens for file in files),
                "sent": old.sent + sum(file.path not in refused for file in batch.files),
                "removed": old.removed + sum(path not in refused for path in batch.deletions),
                "failed": old.failed + len(failures),
                "failures": (*old.failures, *failures)[:SHOWN_FAILURES],
                "problem": None,
                "updated_at": self._clock(),
            }
        )

    def _require(self, org_id: str, selection: DocsSelection) -> None:
        """NotFound for a scope of which there is nothing, here or at the target; Conflict for a target of another's."""
        destination = self._target.destination(org_id)
        only = selection.only(org_id)
        if only and not self._source.types(only) and not self._ledger.manifest(destination, only).files:
            raise NotFound("no such scope in this organization", scope=selection.scope, scopeId=selection.scope_id)
        if not self._ledger.claim(destination, org_id):
            raise Conflict(
                f"{destination} holds another organization's memories; "
                "with {organization} in VITTO_DOCS_PROJECT each has a project of its own"
            )

    def _checkpoint(self, org_id: str) -> DocsCheckpoint:
        destination = self._target.destination(org_id)
        fresh = DocsCheckpoint(progress=DocsExportProgress(org_id=org_id, destination=destination))
        return self._ledger.checkpoint(destination, org_id) or fresh

    def _keep(
        self, before: DocsCheckpoint, progress: DocsExportProgress, position: DocsPosition, *, everything: bool
    ) -> bool:
        """Whether it was kept: if not, another process did the step too, and counted it."""
        after = DocsCheckpoint(progress=progress, position=position, everything=everything, version=before.version + 1)
        return self._ledger.keep(progress.destination, after)

    def _stopped(self, org_id: str, error: StoreUnavailable) -> DocsExportProgress:
        """The progress with what stopped it."""
        self._telemetry.event("docs_export_paused", reason=error.message, org=org_id)
        found = self._checkpoint(org_id)
        progress = found.progress.model_copy(update={"problem": error.message, "updated_at": self._clock()})
        self._keep(found, progress, found.position, everything=found.everything)
        return progress

    def _go_on_later(self, org_id: str) -> None:
        if self._queue is None:
            return
        try:
            self._queue.send([ExportDocs(scope_key=ScopeRef(org_id, Scope.ORGANIZATION, org_id).key)], 1)
        except VittoError as error:
            self._telemetry.event("tasks_not_queued", reason=error.message, tasks=1)
