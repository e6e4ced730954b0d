"""The build from end to end, in a folder of its own: the checkout is read and never written to."""

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vitto_tools.packaging import archive, dependencies, extras, licences, template
from vitto_tools.packaging.errors import PackageRefused
from vitto_tools.packaging.licences import Licence
from vitto_tools.packaging.template import Function

__all__ = ["Built", "PackageRefused", "build"]

ARCHIVE = "deployment.zip"  # the name that Chalice gives it, and the template says
LIMIT_BYTES = 50_000_000  # issue 3: under 50 MB zipped, which is also what Lambda takes directly
CONFIG = Path(".chalice") / "config.json"
_SHIPPED = ("app.py", "chalicelib", ".chalice")


@dataclass(frozen=True)
class Built:
    """What was built, and what is in it."""

    archive: Path
    template: Path
    zipped_bytes: int
    unzipped_bytes: int
    sha256: str
    functions: list[Function]
    licences: list[Licence]


def build(
    root: Path, stage: str, out: Path, say: Callable[[str], None] = lambda _: None, *, like: str | None = None
) -> Built:
    """Package the checkout at `root` into `out`. A stage that is not declared is configured as the stage `like` is.
    PackageRefused where there is none, or where something may not be deployed."""
    config = _configured(root, stage, like)
    with tempfile.TemporaryDirectory(prefix="vitto-package-") as name:
        work = Path(name)
        project = _project(root, work / "project", config)
        say("dependencies")
        content = work / "content"
        dependencies.install(root / "requirements.txt", content)
        say("chalice package")
        made = work / "made"
        added = work / "added.json"
        added.write_text(json.dumps(extras.merged(root / "infra")))
        template.run_chalice(project, stage, added, made)
        say("compiling")
        archive.unpack(made / ARCHIVE, content)
        dependencies.compile_all(content)
        say("zip")
        out.mkdir(parents=True, exist_ok=True)
        archive.write_archive(content, made / ARCHIVE)
        found = licences.licences_of(content)
        licences.refuse_others(found)
        say("cfn-lint")
        template.lint(made / template.NAME)
        for file in (ARCHIVE, template.NAME):
            shutil.copyfile(made / file, out / file)
    return _checked(out, found)


def stages(root: Path) -> list[str]:
    """The stages that `.chalice/config.json` declares."""
    return sorted(json.loads((root / CONFIG).read_text())["stages"])


def _configured(root: Path, stage: str, like: str | None) -> str:
    """Chalice's configuration with the stage in it, as text."""
    text = (root / CONFIG).read_text()
    config = json.loads(text)
    if stage in config["stages"]:
        return text
    if like not in config["stages"]:
        wanted = like or stage
        raise PackageRefused(f"stage {wanted} is not in .chalice/config.json, which has: {', '.join(stages(root))}")
    config["stages"][stage] = config["stages"][like]
    return json.dumps(config, indent=2)


def _project(root: Path, project: Path, config: str) -> Path:
    """What Chalice packages: the application, with no requirements, since those are put beside it as the lock says."""
    project.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "deployments", "deployed", "*.pyc")
    for name in _SHIPPED:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, project / name, ignore=ignored)
        else:
            shutil.copyfile(source, project / name)
    (project / CONFIG).write_text(config)
    (project / "requirements.txt").touch()
    return project


def _checked(out: Path, found: list[licences.Licence]) -> Built:
    zipped, unzipped = archive.sizes(out / ARCHIVE)
    if zipped > LIMIT_BYTES:
        raise PackageRefused(f"the package has {zipped} bytes; at most {LIMIT_BYTES} may be deployed")
    functions = template.functions_of(template.read(out / template.NAME))
    if strays := [one.handler for one in functions if not one.handler.startswith("app.")]:
        raise PackageRefused(f"these handlers would run without app.py: {', '.join(strays)}")
    digest = archive.sha256(out / ARCHIVE)
    return Built(out / ARCHIVE, out / template.NAME, zipped, unzipped, digest, functions, found)
