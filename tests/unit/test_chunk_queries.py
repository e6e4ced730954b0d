"""What the search module is asked, in the language that RediSearch and valkey-search share, and what its replies mean."""

import re

import pytest

from chalicelib.adapters.redis import chunk_queries, keys
from chalicelib.adapters.redis.chunk_queries import MOST_NEIGHBOURS, cosines, fields_of, nearest
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.query import Filter, IndexQuery
from tests.building import AWKWARD_IDS, entry, index_query, row

SCOPE = row().memory.scope_ref.key
NODES = 16  # the most that valkey-search 1.0 takes in a filter, with those that join two others
CONDITION = re.compile(r"@[skg]:\{[a-z0-9]+(?: \| [a-z0-9]+)*\}|@e:\[(?:-inf|-?\d+) (?:\+inf|\(-?\d+)\]")


def asked(query: IndexQuery, count: int = 10) -> str:
    """The query string."""
    return str(nearest(SCOPE, query, count).arguments[2])


def conditions(query: IndexQuery) -> list[str]:
    """The conditions of its filter."""
    inside = re.fullmatch(r"\((.*)\)=>\[KNN \d+ @v \$q AS d\]", asked(query))
    assert inside
    found = CONDITION.findall(inside.group(1))
    assert " ".join(found) == inside.group(1)
    return found


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        Filter(types=tuple(MemoryType)),
        Filter(since=-5),
        Filter(before=1_772_366_400_123),
        Filter((MemoryType.TASK,), tuple(AWKWARD_IDS), -1, 1),
        Filter(tags=tuple(f"{n}" for n in range(20)), types=(MemoryType.FACT,), since=0),
    ],
)
def test_every_filter_fits_the_grammar_and_the_size_that_both_modules_take(wanted: Filter | None) -> None:
    found = conditions(index_query("figs", filter=wanted))
    assert found[0].startswith("@s:{s")
    assert 2 * len(found) - 1 <= NODES


def test_a_filter_says_what_it_admits() -> None:
    wanted = Filter((MemoryType.FACT, MemoryType.TASK), ("a", "b"), 3, 9)
    _, types, first, second, time = conditions(index_query("figs", filter=wanted))
    assert (types, time) == ("@k:{fact | task}", "@e:[3 (9]")
    stored = fields_of(entry(row(tags=("b", "c", "a"))))["g"].split(",")
    assert [first, second] == [f"@g:{{{stored[2]}}}", f"@g:{{{stored[0]}}}"]


def test_scopes_models_and_tags_are_told_apart_and_hold_nothing_that_means_something() -> None:
    changes = [entry(row(org_id=name, tags=(tag,))) for name in AWKWARD_IDS for tag in AWKWARD_IDS]
    changes += [entry(row(org_id=name), model=model) for name in AWKWARD_IDS for model in ("m", "M")]
    described = [fields_of(change) for change in changes]
    assert len({fields["s"] for fields in described}) == 3 * len(AWKWARD_IDS)
    assert len({fields["g"] for fields in described}) == len(AWKWARD_IDS) ** 2 + 1
    assert all(re.fullmatch(r"s[0-9a-f]{32} (t[0-9a-f]{32})?", f"{f['s']} {f['g']}") for f in described)


def test_no_more_is_asked_for_than_the_module_gives() -> None:
    call = nearest(SCOPE, index_query("figs"), 4 * MOST_NEIGHBOURS)
    assert f"KNN {MOST_NEIGHBOURS} " in str(call.arguments[2])
    assert call.arguments[call.arguments.index("LIMIT") + 2] == MOST_NEIGHBOURS


def test_a_reply_gives_the_nearest_chunk_of_each_row_in_order_and_nothing_of_another_scope_model_or_size() -> None:
    query = index_query("figs")
    mine = keys.chunks(256, SCOPE, query.model)
    foreign = [
        keys.chunks(8, SCOPE, query.model),
        keys.chunks(256, SCOPE, "other"),
        keys.chunks(256, SCOPE + "x", query.model),
    ]
    found = [(mine + "b#0", b"0.5"), (mine + "a#1#0", b"0.75"), (mine + "b#1", b"0.25"), (mine + "n#0", b"nan")]
    found += [(prefix + "c#0", b"0.1") for prefix in foreign]
    reply = [len(found), *(part for name, distance in found for part in (name.encode(), [b"d", distance]))]
    assert list(cosines(SCOPE, query, reply).items()) == [("b", 0.75), ("a#1", 0.25)]
    assert cosines(SCOPE, query, [0]) == {}
    assert cosines(SCOPE, query, [1, (mine + "a#0").encode(), []]) == {}


def test_an_index_covers_the_chunks_of_its_size_alone() -> None:
    calls = [chunk_queries.create_index(size).arguments for size in (25, 256)]
    prefixes = [str(call[call.index("PREFIX") + 2]) for call in calls]
    assert keys.chunks(256, SCOPE, "m").startswith(prefixes[1])
    assert not keys.chunks(256, SCOPE, "m").startswith(prefixes[0])
    assert all(call[call.index("DIM") + 1] == size for call, size in zip(calls, (25, 256), strict=True))
