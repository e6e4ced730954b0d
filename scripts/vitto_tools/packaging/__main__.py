"""`scripts/package [--stage dev] [--out DIR]`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from vitto_tools.local.servers import ROOT
from vitto_tools.packaging.build import PackageRefused, build
from vitto_tools.packaging.licences import Licence
from vitto_tools.packaging.template import function_lines

OUT = ROOT / ".vitto" / "package"
_MEGABYTE = 1_000_000


def main(
    stage: Annotated[str, typer.Option(help="A stage of .chalice/config.json.")] = "dev",
    out: Annotated[Path | None, typer.Option(help="The folder to write to; .vitto/package/STAGE without it.")] = None,
) -> None:
    """Build the AWS package: deployment.zip and sam.json."""
    began = time.monotonic()

    def say(step: str) -> None:
        typer.echo(f"package: {step} ({time.monotonic() - began:.0f} s)", err=True)

    try:
        built = build(ROOT, stage, out or OUT / stage, say)
    except PackageRefused as error:
        typer.secho(f"package: {error}", err=True, fg=typer.colors.RED)
        raise typer.Exit(1) from None
    zipped, unzipped = (size / _MEGABYTE for size in (built.zipped_bytes, built.unzipped_bytes))
    typer.echo(f"{built.archive}\n  {zipped:.1f} MB zipped, {unzipped:.1f} MB unzipped, {built.sha256}")
    typer.echo(f"{built.template}\n  cfn-lint finds nothing\nfunctions")
    for line in function_lines(built.functions):
        typer.echo(f"  {line}")
    typer.echo("licences")
    for line in licence_lines(built.licences):
        typer.echo(f"  {line}")


def licence_lines(licences: list[Licence]) -> list[str]:
    """What is in the zip, by licence."""
    by_licence: dict[str, list[str]] = {}
    for one in licences:
        by_licence.setdefault(one.licence, []).append(f"{one.name} {one.version}")
    return [f"{licence}: {', '.join(names)}" for licence, names in sorted(by_licence.items())]


if __name__ == "__main__":
    typer.run(main)
