"""Commands over rows: vectors that they lack, quarantine, what was forgotten, what is of before."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import Field

from chalicelib.domain.backfill import BackfillProgress, BackfillState
from chalicelib.domain.retention import PurgeReport, SweepReport
from chalicelib.domain.wire import Flag, Wire
from chalicelib.entrypoints.admin.commands import Command, NoArguments, Object, Progress, Turn
from chalicelib.write.migration.run import Report

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

_COUNTED = ("done", "cut", "failed")
_COUNTERS = ("rows", "redacted", "left_out")


class OfOrganization(Wire):
    """Whose rows."""

    organization: str | None = Field(default=None, min_length=1, description="Of this organization only.")


class Retention(Wire):
    """How rows whose time is over are gone through."""

    dry_run: Flag = Field(default=False, description="Say what would be done, and change nothing.")


class Migrating(Wire):
    """How rows of before are gone through."""

    organization: str | None = Field(
        default=None, min_length=1, description="Whose the rows are that name no organization."
    )
    dry_run: Flag = Field(default=False, description="Say what would be done, and change nothing.")


def _backfill(services: "Container", wanted: OfOrganization, turn: Turn) -> Progress:
    """Organization by organization; how far the one under way is stands in the truth."""
    made = services.backfill
    after = str(turn.cursor.get("after", ""))
    told: Object = {name: turn.count(name) for name in _COUNTED}
    left = [wanted.organization] if wanted.organization else [org for org in made.organizations() if org > after]
    for org_id in left:
        progress = made.step(org_id)
        while progress.state is BackfillState.RUNNING:
            if turn.time_is_up():
                return Progress(_with(told, progress) | {"organization": org_id}, cursor=told | {"after": after})
            progress = made.step(org_id)
        told, after = _with(told, progress), org_id
    return Progress(told, failed=bool(told["failed"]))


def _with(told: Object, progress: BackfillProgress) -> Object:
    return {name: told[name] + getattr(progress, name) for name in _COUNTED}


def _sweep(services: "Container", wanted: Retention, turn: Turn) -> Progress:
    report = services.sweep.run(dry_run=wanted.dry_run, time_is_up=turn.time_is_up)
    return _retention(report, turn)


def _purge(services: "Container", wanted: Retention, turn: Turn) -> Progress:
    report = services.purge.run(dry_run=wanted.dry_run, time_is_up=turn.time_is_up)
    return _retention(report, turn)


def _retention(report: SweepReport | PurgeReport, turn: Turn) -> Progress:
    """What is changed is not come to again, so slices add up. A dry run changes nothing and would begin anew: it has one
    slice, and fails where that does not suffice."""
    counted: Object = {
        name: turn.count(name) + value for name, value in asdict(report).items() if not isinstance(value, bool)
    }
    told = counted | {"dryRun": report.dry_run, "finished": report.finished}
    if report.finished:
        return Progress(told)
    return Progress(told, failed=True) if report.dry_run else Progress(told, cursor=counted)


def _migrate(services: "Container", wanted: Migrating, turn: Turn) -> Progress:
    """Rows that are done wait no more; those that were left, and in a dry run all, come first and are passed over."""
    migration = services.migration(wanted.organization)
    report = _report(turn.cursor.get("report"))
    passed = report.looked_at if wanted.dry_run else report.rows["problem"]
    waiting = migration.waiting()[passed:]
    before = report.looked_at
    migration.run(waiting, lambda _: None, dry=wanted.dry_run, report=report, time_is_up=turn.time_is_up)
    left = len(waiting) - (report.looked_at - before)
    counted = _body(report)
    told = counted | {"migrated": report.migrated, "left": left, "dryRun": wanted.dry_run}
    return Progress(told, cursor={"report": counted} if left else None, failed=bool(report.rows["problem"]))


def _body(report: Report) -> Object:
    """The report as JSON."""
    counted: Object = {name: dict(getattr(report, name)) for name in _COUNTERS}
    return counted | {"problems": list(report.problems)}


def _report(kept: Any) -> Report:
    if not kept:
        return Report()
    return Report(**{name: Counter(kept[name]) for name in _COUNTERS}, problems=list(kept["problems"]))


def _retry_pending(services: "Container", _wanted: NoArguments, _turn: Turn) -> Progress:
    if services.ports.hot:
        services.ports.hot.probe()  # StoreUnavailable here, once, instead of once a batch
    done = services.maintenance.retry_pending(services.maintenance.NO_GRACE)
    return Progress({"indexed": done, "pending": services.ports.store.count_pending()})


COMMANDS: tuple[Command[Any], ...] = (
    Command("backfill", "Give every row the vectors that it lacks.", OfOrganization, _backfill),
    Command("sweep", "Decide about what is in quarantine for 30 days and longer.", Retention, _sweep),
    Command("purge", "Remove for good what was forgotten more than 7 days ago.", Retention, _purge),
    Command("migrate", "Make rows of before scopes into rows of today.", Migrating, _migrate),
    Command("retry-pending", "Index the rows that are pending.", NoArguments, _retry_pending),
)
