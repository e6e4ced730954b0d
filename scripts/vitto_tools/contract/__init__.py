"""The contract as it is committed, and what a change of it would break."""

import json
from pathlib import Path
from typing import Any

COMMITTED = Path(__file__).parents[3] / "docs" / "openapi.json"


def as_text(document: dict[str, Any]) -> str:
    """The document as it is committed: the same text for the same contract."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
