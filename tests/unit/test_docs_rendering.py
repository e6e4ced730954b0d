"""Memories as Markdown: nothing breaks out of its place, names are safe, the same memories give the same bytes."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.docs import TypePages
from chalicelib.domain.memory import Attachment, Link, LinkKind, MemoryType, Origin
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.export.docs.markdown import code, inline, literal, title
from chalicelib.export.docs.paths import folder, page_path, segment
from chalicelib.export.docs.rendering import entry, index, page
from tests.building import AWKWARD_IDS, NOW, memory

ANA = ScopeRef("acme", Scope.USER, "ana")
NASTY = (
    "# A heading",
    "---\ntitle: front matter\n---\ntext",
    "```python\nprint(1)\n```\n# after the fence",
    "````\n```\n# deep\n````",
    "~~~\n# tilde\n~~~",
    "</div><script>alert(1)</script>\n<!-- never closed",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "line\r```\r# carriage return",
    "Title\n=====\n- [x] list\n> quote\n    code",
    "``` ` `` ````` end",
    "[link](javascript:alert(1)) ![image](http://x/y.png)",
)


def outside_of_fences(text: str) -> list[str]:
    """The lines of a page that are not inside a block of code, as CommonMark reads them."""
    shown, fence = [], ""
    for line in re.split(r"\r\n|\n|\r", text):
        opened = re.match(r" {0,3}(`{3,})([^`]*)$", line)
        if fence:
            closing = re.fullmatch(r" {0,3}(`{3,})[ \t]*", line)
            if closing and len(closing.group(1)) >= len(fence):
                fence = ""
        elif opened:
            fence = opened.group(1)
        else:
            shown.append(line)
    assert not fence, "a block is still open at the end"
    return shown


@pytest.mark.parametrize("content", NASTY)
def test_content_stands_as_it_is_and_cannot_break_the_page(content: str) -> None:
    made = page(ANA, MemoryType.FACT, 1, [entry(memory(content)), entry(memory("Ana lives in Porto"))])
    assert content in made.content
    shown = outside_of_fences(made.content)
    assert [line[:3] for line in shown if line.startswith(("#", "=", "---", "<", "|", "~"))] == ["# F", "## ", "## "]
    assert sum(line.startswith("- Id: `mem_") for line in shown) == 2


@given(st.text(max_size=300))
def test_no_text_ends_its_block_or_its_line(content: str) -> None:
    assert all(not line.startswith("#") for line in outside_of_fences(f"{literal(content)}\n"))
    for said in (inline(content), code(content), title(content)):
        assert len(said.splitlines()) <= 1
        assert "<" not in re.sub(r"\\.", "", said) or said.startswith("`")


@pytest.mark.parametrize("summary", NASTY)
def test_what_is_said_in_a_line_stays_in_it_and_means_nothing(summary: str) -> None:
    made = entry(memory("plain", summary=summary, tags=(summary,), key_entities=("a`b",), outcome=summary))
    shown = outside_of_fences(made)
    assert sum(line.startswith("#") for line in shown) == 1
    assert sum(line.startswith("- ") for line in shown) == 10
    assert not re.search(r"(?<!\\)<(?![^`]*`)", "\n".join(line for line in shown if "Tags" not in line))


def test_an_entry_says_what_it_is() -> None:
    links = (Link(kind=LinkKind.SUPERSEDES, target="mem_old"), Link(kind=LinkKind.CONTRADICTS, target="mem_x"))
    said = entry(
        memory(
            "We deploy on Fridays",
            id="mem_1",
            type=MemoryType.DECISION,
            summary="Deploys: Fridays",
            tags=("ops", "deploy"),
            key_entities=("Friday",),
            importance=0.8,
            overridable=False,
            links=links,
            revision=3,
            origin=Origin(speaker="Ben"),
            expires_at=NOW + timedelta(days=1),
            outcome="shipped",
            attachments=(Attachment(type="image", url="https://x/y.png", description="a board"),),
        )
    )
    assert said == (
        "## Deploys: Fridays\n\n"
        "- Summary: Deploys: Fridays\n"
        "- Type: decision\n"
        "- Tags: `ops`, `deploy`\n"
        "- Key entities: `Friday`\n"
        "- Event time: 2026-03-01 12:00:00 UTC\n"
        "- Importance: 0.80\n"
        "- Overridable: no, this is policy\n"
        "- Author: `ana`\n"
        "- Speaker: `Ben`\n"
        "- Expires: 2026-03-02 12:00:00 UTC\n"
        "- Supersedes: `mem_old`\n"
        "- Contradicts: `mem_x`\n"
        "- Outcome: shipped\n"
        "- Attachment: `image` `https://x/y.png` a board\n"
        "- Id: `mem_1`, revision 3\n\n"
        "```text\nWe deploy on Fridays\n```\n"
    )


def test_folders_are_those_of_the_tree() -> None:
    names = [folder(ScopeRef("acme", scope, "design")) for scope in Scope]
    assert names == ["organization", "spaces/design", "universes/design", "users/design"]
    assert page_path(ANA, MemoryType.PREFERENCE, 1) == "users/ana/preferences.md"
    assert page_path(ANA, MemoryType.PREFERENCE, 2) == "users/ana/preferences-2.md"


TRICKY = (
    *AWKWARD_IDS,
    "..",
    ".",
    "../x",
    "Ana",
    "ANA",
    "con",
    "aux.md",
    "a.",
    "é",
    "e",
    "x" * 128,
    "x" * 127,
    "~",
    "a~b",
)


def test_no_two_ids_share_a_name_nor_where_capitals_do_not_count() -> None:
    names = [segment(id_) for id_ in (*TRICKY, "ana", "conrad")]
    assert len({name.casefold() for name in names}) == len(names)
    assert {segment("ana"), segment("conrad")} == {"ana", "conrad"}


@pytest.mark.parametrize("id_", TRICKY)
def test_a_name_is_one_safe_part_of_a_path(id_: str) -> None:
    name = segment(id_)
    assert re.fullmatch(r"[a-z0-9~][a-z0-9._~-]*", name)
    assert name not in {"con", "aux.md"}
    assert not name.endswith(".")
    assert len(name) <= 60


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_different_ids_have_different_names(one: str, other: str) -> None:
    assert (segment(one) == segment(other)) == (one == other)


def test_the_index_links_every_page_that_was_made() -> None:
    made = {MemoryType.FACT: TypePages(pages=2, memories=70), MemoryType.DECISION: TypePages(pages=1, memories=3)}
    assert index(ScopeRef("acme", Scope.SPACE, "a|b`c"), made).content == (
        "# Memories of space ``a|b`c``\n\n"
        "| type | memories | pages |\n|---|---|---|\n"
        "| fact | 70 | [1](facts.md), [2](facts-2.md) |\n"
        "| decision | 3 | [1](decisions.md) |\n"
    )
