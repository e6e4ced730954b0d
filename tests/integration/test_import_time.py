"""A cold start: importing the application takes little longer than importing the libraries that it stands on."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEAST_RUNS, RUNS = 3, 15  # noise only ever adds, so the least of many is what it costs, and few may show it
MOST = 1.3  # issue 3, "Numbers"
HEAVY = ("openai", "boto3", "botocore", "numpy")
LIBRARIES = "import chalice, pydantic, pymongo, redis"


def seconds(statement: str) -> float:
    """What a statement costs a fresh process, in time of its processor: others on this machine do not count."""
    code = f"import time\nbegan = time.process_time()\n{statement}\nprint(time.process_time() - began)"
    return float(python(code))


def python(code: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_importing_the_application_takes_little_longer_than_importing_its_libraries() -> None:
    pairs: list[tuple[float, float]] = []
    application = libraries = 0.0
    while len(pairs) < RUNS and (len(pairs) < LEAST_RUNS or application > MOST * libraries):
        pairs.append((seconds("import app"), seconds(LIBRARIES)))
        application, libraries = (min(taken) for taken in zip(*pairs, strict=True))
    print(f"import app {application:.3f} s, its libraries {libraries:.3f} s: {application / libraries:.2f} times")
    assert application <= MOST * libraries


def test_importing_the_application_loads_nothing_that_is_heavy() -> None:
    code = f"import json, sys, app\nprint(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    assert json.loads(python(code)) == []


def test_the_collector_is_back_once_the_application_is_imported() -> None:
    assert python("import gc, app\nprint(gc.isenabled())").strip() == "True"
