"""`scripts/bench recall`: LoCoMo and BEAM through the HTTP API, one user a dialogue, every message a memory of its own,
beside BM25 alone and one vector query alone over the same rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from chalicelib.domain.query import StoredMemory
from vitto_tools.bench.ahead import embed_ahead
from vitto_tools.bench.baselines import Bm25, Nearest
from vitto_tools.bench.beam import CORE, FURTHER, chats
from vitto_tools.bench.client import DEEPEST, Client, Written
from vitto_tools.bench.dialogues import Dialogue
from vitto_tools.bench.gains import Gains, write_table
from vitto_tools.bench.ingredients import Asker
from vitto_tools.bench.locomo import ADVERSARIAL, conversations
from vitto_tools.bench.metrics import CATEGORIES, CUTS, OVERALL, Category, Scores, Shown
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack, running

TUNED = 5  # conversations of LoCoMo that what is tuned is tuned on; the others are held out
EXPECTED = "about 6 minutes for LoCoMo and 10 for BEAM once the embeddings are cached, the gains 10 more"
PRODUCT, TEXT, VECTOR = SYSTEMS = ("product", "baseline.bm25", "baseline.vector")


@dataclass
class Measured:
    """What a data set gave, by the names of the systems: over all dialogues, and over those held out. `visible` is the
    product where superseded messages are not asked for."""

    all: dict[str, Scores] = field(default_factory=dict)
    heldout: dict[str, Scores] = field(default_factory=dict)
    visible: Scores = field(default_factory=Scores)
    superseded: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def of(self, system: str, *, heldout: bool) -> list[Scores]:
        """The scores that an answer of `system` counts in."""
        parts = (self.all, self.heldout) if heldout else (self.all,)
        return [part.setdefault(system, Scores()) for part in parts]


def run(report: Report, *, conversations_asked: int, chats_asked: int, prospective: bool, table: bool) -> None:
    """Print and note the figures of so many dialogues of each data set; with `table` also what each ingredient gains, which
    is written to its document. Without `prospective` no memory is given questions."""
    report.say(f"recall: {EXPECTED}")
    talks, assisted = conversations()[:conversations_asked], chats()[:chats_asked]
    embed_ahead(report, [*talks, *assisted], prospective=prospective)
    found: dict[str, Measured] = {}
    with running("recall") as stack:
        if talks:
            client = Client(stack, "locomo", 100, prospective=prospective)
            found["locomo"] = _measured(report, client, stack, talks, gains=table)
        if assisted:
            client = Client(stack, "beam", 20, prospective=prospective)
            found["beam"] = _measured(report, client, stack, assisted, gains=table)
        settings = stack.services.settings.recall
    if talks:
        _print_locomo(report, found["locomo"])
    if assisted:
        _print_beam(report, found["beam"])
    if table:
        gains = Gains({name: (one.all, one.heldout) for name, one in found.items()}, settings)
        gains.note(report)
        given = "with" if prospective else "without"
        asked = f"{len(talks)} conversations of LoCoMo and {len(assisted)} chats of BEAM"
        write_table([f"Measured on {asked}, {given} prospective questions.", "", *gains.lines()])


def _measured(report: Report, client: Client, stack: Stack, dialogues: Sequence[Dialogue], *, gains: bool) -> Measured:
    name = client.name
    with report.progress(f"{name}: remembering messages", sum(len(list(d.items())) for d in dialogues)) as advance:
        for dialogue in dialogues:
            for stored in client.remember(dialogue):
                advance(stored)
    client.wait_until_idle(report)
    measured, asker = Measured(), Asker(stack, client.organization)
    with report.progress(f"{name}: asking questions", sum(len(d.questions) for d in dialogues)) as advance:
        for place, dialogue in enumerate(dialogues):
            client.wait_until_indexed(dialogue.name)
            rows, written = client.rows(dialogue.name), client.written[dialogue.name]
            heldout = name == "locomo" and place >= TUNED
            _ask(client, dialogue, measured, written.superseded(rows), heldout=heldout)
            _ask_baselines(asker, dialogue, rows, written, measured, heldout=heldout)
            if gains:
                _ask_arrangements(asker, dialogue, written, measured, heldout=heldout)
            measured.outcomes += written.outcomes
            advance(len(dialogue.questions))
    return measured


def _ask(client: Client, dialogue: Dialogue, measured: Measured, superseded: frozenset[str], *, heldout: bool) -> None:
    """The product over HTTP."""
    measured.superseded += len(superseded)
    for question in dialogue.questions:
        shown = client.ask(dialogue.name, question.text)
        measured.visible.add_shown(replace(question, evidence=question.evidence - superseded), shown)
        for scores in measured.of(PRODUCT, heldout=heldout):
            scores.add_shown(question, shown)


def _ask_baselines(
    asker: Asker,
    dialogue: Dialogue,
    rows: Sequence[StoredMemory],
    written: Written,
    measured: Measured,
    *,
    heldout: bool,
) -> None:
    text, vectors = Bm25(rows), Nearest(rows)
    for question in dialogue.questions:
        by_text = _ranking(text.scores(question.text), rows, written)
        by_vector = _ranking(vectors.scores(asker.embedder.embed_query(question.text)), rows, written)
        for system, shown in ((TEXT, by_text), (VECTOR, by_vector)):
            for scores in measured.of(system, heldout=heldout):
                scores.add_shown(question, shown)


def _ranking(scores: NDArray[np.float64], rows: Sequence[StoredMemory], written: Written) -> list[Shown]:
    best = np.argsort(-scores, kind="stable")[:DEEPEST]
    return [written.shown_row(rows[place].memory.id) for place in best if scores[place] > 0]


def _ask_arrangements(asker: Asker, dialogue: Dialogue, written: Written, measured: Measured, *, heldout: bool) -> None:
    for place, name, shown in asker.ask(dialogue, written):
        for scores in measured.of(name, heldout=heldout):
            scores.add_shown(dialogue.questions[place], shown)


def _print_locomo(report: Report, measured: Measured) -> None:
    by_category = list(CATEGORIES.items())
    _table(report, "LoCoMo, categories 1–4 overall", measured.all, OVERALL, by_category)
    if measured.heldout:
        _table(report, f"LoCoMo, conversations {TUNED + 1} to 10", measured.heldout, OVERALL, by_category)
    _say_outcomes(report, measured)
    for part, within in (("", measured.all), ("heldout.", measured.heldout)):
        for system in SYSTEMS:
            if (scores := within.get(system)) is not None:
                prefix = f"locomo.{part}" if system == PRODUCT else f"{system}.{part}"
                report.note(f"{prefix}recall_at_10", scores.recall(10, OVERALL))
                report.note(f"{prefix}mrr", scores.mrr(OVERALL))
                report.note(f"{prefix}adversarial.recall_at_10", scores.recall(10, [ADVERSARIAL]))


def _print_beam(report: Report, measured: Measured) -> None:
    by_category = [(category, category.replace("_", " ")) for category in (*CORE, *FURTHER)]
    _table(report, "BEAM, the core seven categories overall", measured.all, CORE, by_category)
    _say_outcomes(report, measured)
    for system in SYSTEMS:
        prefix, scores = "beam" if system == PRODUCT else f"{system}.beam", measured.all[system]
        report.note(f"{prefix}.core7.recall_at_10", scores.recall(10, CORE))
        report.note(f"{prefix}.core7.mrr", scores.mrr(CORE))
        report.note(f"{prefix}.updated_above_original", scores.updated_above_original)
    report.note("beam.core7.without_superseded.recall_at_10", measured.visible.recall(10, CORE))
    report.note("beam.superseded", measured.superseded)


def _say_outcomes(report: Report, measured: Measured) -> None:
    said = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(measured.outcomes.items()))
    report.say(f"written: {said}; {measured.superseded} superseded by later ones")


def _table(
    report: Report,
    title: str,
    systems: dict[str, Scores],
    overall: Sequence[Category],
    by_category: Sequence[tuple[Category, str]],
) -> None:
    """A line a figure, a column a system, in percent."""
    found = [systems[name] for name in SYSTEMS]
    rows: list[list[str | float]] = [[f"recall@{cut}", *(one.recall(cut, overall) for one in found)] for cut in CUTS]
    rows.append(["MRR", *(one.mrr(overall) for one in found)])
    rows += [[f"{name} @10", *(one.recall(10, [kind]) for one in found)] for kind, name in by_category]
    if any(one.updated_above for one in found):
        rows.append(["updates above originals", *(one.updated_above_original for one in found)])
    report.table(f"{title}, percent", ["", *SYSTEMS], rows)
