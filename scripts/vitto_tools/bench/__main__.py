"""`scripts/bench NAME [--json FILE]`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vitto_tools.bench import admission as admission_bench
from vitto_tools.bench import assembly as assembly_bench
from vitto_tools.bench import coldstart as coldstart_bench
from vitto_tools.bench import context as context_bench
from vitto_tools.bench import failures as failures_bench
from vitto_tools.bench import latency as latency_bench
from vitto_tools.bench import prospective as prospective_bench
from vitto_tools.bench import recall as recall_bench
from vitto_tools.bench import remember as remember_bench
from vitto_tools.bench import scale as scale_bench
from vitto_tools.bench import sizes as sizes_bench
from vitto_tools.bench.ahead import embed_ahead
from vitto_tools.bench.beam import chats as all_chats
from vitto_tools.bench.locomo import conversations as all_conversations
from vitto_tools.bench.report import Report


class DataSet(StrEnum):
    """What recall is measured on."""

    LOCOMO = "locomo"
    BEAM = "beam"


app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, help="Benchmarks on real data and real servers."
)
Prospective = Annotated[
    bool, typer.Option("--prospective/--no-prospective", help="With the prospective questions of every memory.")
]
Json = Annotated[Path | None, typer.Option("--json", help="Write the figures to this file as one flat object.")]


@app.command()
def recall(
    json: Json = None,
    only: Annotated[DataSet | None, typer.Option(help="Leave the other data set out.")] = None,
    conversations: Annotated[int, typer.Option(min=1, max=10, help="How many of LoCoMo's ten.")] = 10,
    chats: Annotated[int, typer.Option(min=1, max=20, help="How many of BEAM's twenty.")] = 20,
    prospective: Prospective = True,
    table: Annotated[
        bool, typer.Option("--table", help="Measure what each ingredient gains, and write it to docs/retrieval.md.")
    ] = False,
) -> None:
    """Recall on LoCoMo and BEAM through the HTTP API, beside BM25 alone and one vector query alone."""
    report = Report()
    recall_bench.run(
        report,
        conversations_asked=0 if only is DataSet.BEAM else conversations,
        chats_asked=0 if only is DataSet.LOCOMO else chats,
        prospective=prospective,
        table=table,
    )
    report.write(json)


@app.command()
def latency(
    json: Json = None,
    only: Annotated[
        list[latency_bench.Part] | None, typer.Option(help="This part alone; may be given several times.")
    ] = None,
) -> None:
    """Latency at 10,000 and 100,000 memories in one scope and at 100 users of 500 each, beside the bare store calls; and
    many clients at once."""
    report = Report()
    latency_bench.run(report, only or tuple(latency_bench.Part))
    report.write(json)


@app.command()
def remember(json: Json = None) -> None:
    """What a remember costs at 10,000 memories in one scope, alone and in batches of 100, beside the bare store calls."""
    report = Report()
    remember_bench.run(report)
    report.write(json)


@app.command()
def sizes(json: Json = None) -> None:
    """What a memory and a recall leave in the stores, the tokens that are embedded, and their time, for `vitto costs`."""
    report = Report()
    sizes_bench.run(report)
    report.write(json)


@app.command()
def failures(json: Json = None) -> None:
    """What a store that is dead, hanging or slow costs a recall."""
    report = Report()
    failures_bench.run(report)
    report.write(json)


@app.command()
def admission(
    json: Json = None,
    fit: Annotated[bool, typer.Option("--fit", help="Print the weights that fit conversations 1-5 best.")] = False,
    without_vectors: Annotated[
        bool, typer.Option("--without-vectors", help="Also with an embedder that is down: novelty by words alone.")
    ] = False,
) -> None:
    """Which turns of LoCoMo admission lets in, beside admitting all and the best length cut."""
    report = Report()
    admission_bench.run(report, fit=fit, without_vectors=without_vectors)
    report.write(json)


@app.command()
def prospective(
    json: Json = None,
    conversations: Annotated[int, typer.Option(min=1, max=10, help="How many of LoCoMo's ten.")] = 10,
) -> None:
    """Recall on LoCoMo with and without the prospective questions that the heuristic writes."""
    report = Report()
    prospective_bench.run(report, conversations)
    report.write(json)


@app.command()
def context(
    json: Json = None,
    conversations: Annotated[int, typer.Option(min=1, max=10, help="How many of LoCoMo's ten.")] = 10,
) -> None:
    """How much of a question's evidence stands in the context of a turn, beside the last messages alone."""
    report = Report()
    context_bench.run(report, conversations)
    report.write(json)


@app.command()
def assembly(json: Json = None) -> None:
    """What the context of a turn costs in sessions of 1,000 and of 5,000 messages, embedding left out."""
    report = Report()
    assembly_bench.run(report)
    report.write(json)


@app.command()
def scale(
    json: Json = None,
    memories: Annotated[int, typer.Option(min=10_000, help="How many, 500 a user.")] = 1_000_000,
) -> None:
    """A recall among 20 users of 500 memories each, and among as many as make MEMORIES; bytes a memory. A million take some
    8 GB and, once, about 15 minutes to load."""
    report = Report()
    scale_bench.run(report, memories)
    report.write(json)


@app.command()
def coldstart(json: Json = None) -> None:
    """What a fresh function of the package costs until it has answered, and what a warm handler adds to the service."""
    report = Report()
    coldstart_bench.run(report)
    report.write(json)


@app.command()
def embed(
    chats: Annotated[int, typer.Option(min=0, max=20, help="How many of BEAM's twenty.")] = 20,
    prospective: Prospective = True,
) -> None:
    """Embed LoCoMo and BEAM ahead of `recall`, which else does it itself: some hours on one core, once."""
    embed_ahead(Report(), [*all_conversations(), *all_chats()[:chats]], prospective=prospective)


if __name__ == "__main__":
    app(prog_name="scripts/bench")
