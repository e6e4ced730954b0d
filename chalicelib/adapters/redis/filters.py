"""A filter as the two forms that Redis needs: an expression for VSIM, and JSON for the text tier's script."""

import json
from urllib.parse import quote

from chalicelib.domain.query import Filter


def vector_filter(wanted: Filter | None) -> str:
    """The expression over an element's attributes (`k` type, `g` tags, `e` event time in ms); empty without a filter."""
    if wanted is None:
        return ""
    parts = []
    if wanted.types:
        parts.append(f".k in {json.dumps([kind.value for kind in wanted.types])}")
    parts += [f'"{attribute_tag(tag)}" in .g' for tag in wanted.tags]
    if wanted.since is not None:
        parts.append(f".e >= {wanted.since}")
    if wanted.before is not None:
        parts.append(f".e < {wanted.before}")
    return " and ".join(parts)


def filter_json(wanted: Filter | None) -> str:
    """The same as JSON; empty without a filter."""
    if wanted is None:
        return ""
    fields = {
        "types": [kind.value for kind in wanted.types] or None,
        "tags": list(wanted.tags) or None,
        "since": wanted.since,
        "before": wanted.before,
    }
    return json.dumps({name: value for name, value in fields.items() if value is not None}, ensure_ascii=False)


def attribute_tag(tag: str) -> str:
    """A tag as it stands among an element's attributes: VSIM's filters compare escaped quotes and backslashes wrongly."""
    return quote(tag, safe="")
