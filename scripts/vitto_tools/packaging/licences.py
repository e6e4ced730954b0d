"""The licence of everything that is deployed, from what each distribution says of itself."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from vitto_tools.packaging.errors import PackageRefused

PERMISSIVE = frozenset(
    {"MIT", "MIT-0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Apache-2.0", "PSF-2.0", "ISC", "MPL-2.0"}
)
"""What may ship (README). MPL-2.0 asks for the sources of its own files alone, and those are in the package as they are."""
_SAME = {
    "APACHE LICENSE 2.0": "Apache-2.0",
    "APACHE SOFTWARE LICENSE": "Apache-2.0",
    "BSD LICENSE": "BSD",
    "ISC LICENSE (ISCL)": "ISC",
    "MIT LICENSE": "MIT",
    "MIT NO ATTRIBUTION LICENSE (MIT-0)": "MIT-0",
    "MOZILLA PUBLIC LICENSE 2.0 (MPL 2.0)": "MPL-2.0",
    "PYTHON SOFTWARE FOUNDATION LICENSE": "PSF-2.0",
}
_CLASSIFIER = "License :: OSI Approved :: "
_LONGEST_NAME = 60  # a longer field holds the text of a licence


@dataclass(frozen=True)
class Licence:
    """A distribution and the licence that it names."""

    name: str
    version: str
    licence: str


def licences_of(folder: Path) -> list[Licence]:
    """The licences of the distributions in `folder`, and of Chalice, whose runtime part is there without its metadata."""
    found = [*distributions(path=[str(folder)]), distribution("chalice")]
    return sorted((_licence(one) for one in found), key=lambda one: one.name.lower())


def refuse_others(licences: Iterable[Licence]) -> None:
    """PackageRefused where one is copyleft, or not known to be anything else."""
    others = [f"{one.name} ({one.licence})" for one in licences if not is_permissive(one.licence)]
    if others:
        raise PackageRefused(f"the licence of these is not among those that may ship: {', '.join(others)}")


def is_permissive(licence: str) -> bool:
    """Whether it may ship: of alternatives one suffices, of several that hold together each must."""
    alternatives = re.split(r"\s+OR\s+", licence.upper().replace("(", " ").replace(")", " "))
    return any(all(_known(part) for part in re.split(r"\s+AND\s+|,", one)) for one in alternatives)


def _known(name: str) -> bool:
    return name.strip().upper() in {known.upper() for known in PERMISSIVE}


def _licence(one: Distribution) -> Licence:
    said = one.metadata
    named = (
        said.get("License-Expression") or _classified(said.get_all("Classifier") or []) or _short(said.get("License"))
    )
    return Licence(said["Name"], said["Version"], named or "none named")


def _classified(classifiers: Iterable[str]) -> str:
    names = [line.removeprefix(_CLASSIFIER) for line in classifiers if line.startswith(_CLASSIFIER)]
    return " AND ".join(_SAME.get(name.upper(), name) for name in names)


def _short(text: str | None) -> str:
    name = (text or "").strip()
    return _SAME.get(name.upper(), name) if len(name) <= _LONGEST_NAME else ""
