"""Pages for newcomers as tests follow them: every block of shell is run as it stands, and what is printed below it comes."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```(sh|json)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MARK = "--- the next block ---"
CLOSE = 0.1
"""How far a score may be from what is printed: it follows what could be asked of the stores in time."""


@dataclass(frozen=True)
class Step:
    """A block of shell, what the page prints below it, and what it said."""

    shell: str
    printed: str
    said: str


def followed(page: Path, folder: Path) -> list[Step]:
    """The steps of a page that print something, all blocks of it run in one shell in `folder`, in their order."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    lines = [(text, blocks[i + 1 : i + 2]) for i, (kind, text) in enumerate(blocks) if kind == "sh"]
    script = f"\nprintf '%s\\n' '{MARK}'\n".join(shell for shell, _ in lines)
    done = subprocess.run(["bash", "-euc", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.split(f"{MARK}\n")
    return [
        Step(shell, below[0][1], text)
        for (shell, below), text in zip(lines, said, strict=True)
        if below and below[0][0] == "json"
    ]


def shape(printed: str) -> Any:
    """An answer without what differs from run to run: ids, times, durations."""
    value = json.loads(printed)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = re.sub(r"\b(mem|rcl|req|evt)_[0-9a-z]{26}\b", "ID", text)
    text = re.sub(r'"\d{4}-\d\d-\d\dT[0-9:.]+Z"', '"TIME"', text)
    text = re.sub(r'"(ms|tookMs)": [0-9.]+', r'"\1": 0', text)
    text = re.sub(r"it scored \d\.\d\d", "it scored 0", text)
    return json.loads(text)


def before_questions(shaped: Any) -> Any:
    """A shaped answer without what the worker adds to it in its own time: the questions that a memory answers."""
    text = json.dumps(shaped, ensure_ascii=False)
    text = re.sub(r"; nearer still is a question that it answers \(\d\.\d\d\)", "", text)
    text = re.sub(r"similar in meaning \(\d\.\d\d\)", "similar in meaning", text)
    return json.loads(re.sub(r'"(score|similarity)": [0-9.]+', r'"\1": 0', text))


def differences(part: Any, whole: Any, place: str = "") -> list[str]:
    """Where `whole` does not say what `part` says: objects may have further fields, lists no further items."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return [
            found
            for name, value in part.items()
            for found in differences(value, whole.get(name, "(absent)"), f"{place}.{name}")
        ]
    if isinstance(part, list) and isinstance(whole, list) and len(part) == len(whole):
        pairs = enumerate(zip(part, whole, strict=True))
        return [found for i, (one, other) in pairs for found in differences(one, other, f"{place}.{i}")]
    close = isinstance(part, float) and isinstance(whole, int | float) and abs(part - whole) <= CLOSE
    return [] if close or part == whole else [f"{place}: {part!r} is printed, {whole!r} came"]
