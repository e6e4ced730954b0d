"""The shape of the code that makes it readable: short modules, docstrings, no environment at import, a light start."""

import ast
import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "chalicelib").rglob("*.py"))
HEAVY = ("openai", "boto3", "botocore", "numpy", "jwt", "aws_lambda_powertools")
MOST_LINES, MEDIAN_LINES = 400, 150


def name(path: Path) -> str:
    """A module by its path in the repository."""
    return path.relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


def lines(path: Path) -> int:
    """How long a module is."""
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_module_is_over_400_lines() -> None:
    assert {name(path): lines(path) for path in MODULES if lines(path) > MOST_LINES} == {}


def test_the_median_module_has_at_most_150_lines() -> None:
    assert statistics.median(lines(path) for path in MODULES) <= MEDIAN_LINES


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_every_module_class_and_function_that_is_public_says_what_it_is_for(path: Path) -> None:
    tree = parsed(path)
    assert ast.get_docstring(tree), "the module has no docstring"
    public = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
    ]
    assert [node.name for node in public if not ast.get_docstring(node)] == []


def at_import(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a module that run when it is imported: all but the bodies of functions."""
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            defaults = [*child.args.defaults, *(one for one in child.args.kw_defaults if one)]
            found += [node for default in defaults for node in ast.walk(default)]
            continue
        found += [child, *at_import(child)]
    return found


def reads_environment(node: ast.AST) -> bool:
    """Whether a node takes hold of the environment."""
    if isinstance(node, ast.ImportFrom) and node.module == "os":
        return bool({alias.name for alias in node.names} & {"environ", "getenv", "environb"})
    return isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv", "environb"}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_the_environment_is_read_in_functions_of_bootstrap_alone(path: Path) -> None:
    tree = parsed(path)
    assert not any(reads_environment(node) for node in at_import(tree))
    if path.parent.name != "bootstrap":
        assert not any(reads_environment(node) for node in ast.walk(tree))


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    assert [name(path) for path in MODULES if path.stem in {"utils", "helpers", "util", "common", "misc"}] == []


def test_importing_the_application_loads_nothing_heavy_and_needs_no_environment() -> None:
    code = f"import json, sys, app; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
