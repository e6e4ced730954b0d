"""A recall as it is asked and as it is answered, and what the tiers hand to one another in between."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from chalicelib.domain.conflicts import Override
from chalicelib.domain.explanation import CandidateRecord, LeftOut
from chalicelib.domain.memory import ArchivedReason, Memory, MemoryType
from chalicelib.domain.place import Situation
from chalicelib.domain.plugins import PluginReport
from chalicelib.domain.relations import Via
from chalicelib.domain.routing.route import Route, RouteName
from chalicelib.domain.scope import Scope
from chalicelib.domain.vector import Vector
from chalicelib.domain.wire import JSON_NUMBER, SAYS_SOMETHING, Share, UtcTime, Wire, epoch_ms

MAX_QUERY_CHARACTERS = 4000
MAX_RESULTS = 100
EXACT_ROWS = 20_000  # spec/product.md "Vectors": up to so many rows a vector search is exact
MAX_STORED_CANDIDATES = 200  # rows of one vector search inside the truth; each comes with its document


class Layer(StrEnum):
    """The old word for scopes, from callers of before."""

    DEVELOPER = "developer"
    SPACE_BUILDER = "space_builder"

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """What it means today."""
        return tuple(Scope) if self is Layer.DEVELOPER else (Scope.SPACE, Scope.UNIVERSE, Scope.USER)


class Included(StrEnum):
    """Archived rows that a recall may ask for, by why they were archived."""

    SUPERSEDED = "superseded"
    MERGED = "merged"
    SHIPPED = "shipped"


_BOTH_WORDS: dict[str, Any] = {
    "required": ["layer", "scopes"],
    "properties": {"layer": {"type": "string"}, "scopes": {"type": "array"}},
}


class RecallQuery(Wire):
    """What a reader asks. `scopes` and `scopeIds` narrow its chain; the rest filters what is recalled.

    `layer` is what callers of before send in place of `scopes`, and narrows in the same way."""

    model_config = ConfigDict(json_schema_extra={"not": _BOTH_WORDS})

    query: str = Field(max_length=MAX_QUERY_CHARACTERS, description="not blank", json_schema_extra=SAYS_SOMETHING)
    scopes: tuple[Scope, ...] | None = Field(default=None, min_length=1, max_length=4)
    layer: Layer | None = Field(
        default=None,
        description="deprecated, in place of scopes: developer is all four, space_builder space, universe and user",
        json_schema_extra={"deprecated": True},
    )
    scope_ids: tuple[str, ...] | None = Field(default=None, min_length=1, max_length=100)
    types: tuple[MemoryType, ...] | None = Field(default=None, min_length=1, max_length=len(MemoryType))
    tags: tuple[str, ...] = Field(default=(), max_length=20, description="every one of them is on the memory")
    since: UtcTime | None = Field(default=None, description="event time, inclusive")
    before: UtcTime | None = Field(default=None, description="event time, exclusive")
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS), JSON_NUMBER] | None = Field(
        default=None, description="where it is left out, the route says: 5, 10 or 20"
    )
    min_score: Share = 0.0
    include: tuple[Included, ...] = Field(
        default=(), max_length=len(Included), description="archived rows to recall as well"
    )
    as_of: UtcTime | None = Field(default=None, description="answer from what was true and known at that time")
    route: RouteName | None = Field(default=None, description="where it is left out, the router chooses")
    position: Annotated[int, Field(ge=0), JSON_NUMBER] | None = Field(
        default=None, description="how many messages came before the query in its conversation"
    )

    @field_validator("layer")
    @classmethod
    def _stands_alone(cls, layer: Layer | None, info: ValidationInfo) -> Layer | None:
        if layer is not None and info.data.get("scopes") is not None:
            raise ValueError("is the old word for scopes: give one of the two")
        return layer

    @property
    def conditions(self) -> dict[str, Any]:
        """What is asked besides the text and the tags, as an audit may keep it."""
        return self.model_dump(mode="json", by_alias=True, exclude={"query", "tags"}, exclude_defaults=True)

    @property
    def asks_for_the_past(self) -> bool:
        """Whether it asks for more than what is active now."""
        return bool(self.include or self.as_of)

    @property
    def archived_reasons(self) -> tuple[ArchivedReason, ...]:
        """Why rows may have been archived that are recalled as well."""
        return tuple(ArchivedReason(kind.value) for kind in sorted(set(self.include)))

    @property
    def wanted_scopes(self) -> tuple[Scope, ...] | None:
        """The kinds of scopes asked for, in either word; None leaves the chain as it is."""
        return self.layer.scopes if self.layer else self.scopes

    @property
    def filter(self) -> "Filter | None":
        """What rows must satisfy besides their scope; None where nothing is asked."""
        if not (self.types or self.tags or self.since or self.before or self.as_of):
            return None
        types = tuple(sorted(self.types or ()))
        since, before = (epoch_ms(time) if time else None for time in (self.since, self.before))
        if self.as_of:  # what was true by then, that very millisecond included
            then = epoch_ms(self.as_of) + 1
            before = then if before is None else min(before, then)
        return Filter(types, tuple(sorted(set(self.tags))), since, before)


@dataclass(frozen=True)
class Filter:
    """Conditions on a row. Times are event times in milliseconds since 1970: `since` inclusive, `before` exclusive."""

    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    since: int | None = None
    before: int | None = None

    def admits(self, memory: Memory) -> bool:
        """Whether `memory` satisfies every condition."""
        return self.matches(memory.type, memory.tags, epoch_ms(memory.event_time))

    def matches(self, kind: MemoryType, tags: Sequence[str], at: int) -> bool:
        """Whether a row of that type, those tags and that event time satisfies every condition."""
        return (
            (not self.types or kind in self.types)
            and set(self.tags) <= set(tags)
            and (self.since is None or at >= self.since)
            and (self.before is None or at < self.before)
        )


@dataclass
class Candidate:
    """A memory that a tier found, with what each signal says of it.

    `cosine` is -1 to 1; None where the row has no vector of the query's model. `bm25` is 0 or more; None where it has
    yet to be computed. `question` is the cosine of the nearest of its prospective questions, where one was found.
    `row` is there where the tier read it anyway. `tier` is None for the hot index, whose signals say
    which of its two it was. `situation` is where in a conversation it stands, as far as that is known.
    """

    id: str
    scope_key: str
    cosine: float | None = None
    bm25: float | None = None
    row: "StoredMemory | None" = None
    tier: "TierName | None" = None
    question: float | None = None
    situation: Situation | None = None


@dataclass(frozen=True)
class StoredMemory:
    """A memory with what is stored beside it for the text tier."""

    memory: Memory
    counts: dict[str, int] = field(default_factory=dict)
    length: int = 0


@dataclass(frozen=True)
class TermStatistics:
    """What the scopes asked hold: how many rows, and in how many of them each term stands."""

    rows: int
    frequencies: dict[str, int]


@dataclass(frozen=True)
class IndexQuery:
    """What an index is asked for one chain: a vector, terms, or both; a filter; candidates wanted a signal and scope; and
    whether a match with one of a memory's prospective questions counts for the memory. In scopes of more than `exact_rows`
    rows the nearest may be those of an approximate search, which costs a tenth."""

    vector: Vector | None
    model: str
    terms: tuple[str, ...]
    filter: Filter | None = None
    limit: int = 100
    prospective: bool = False
    exact_rows: int = EXACT_ROWS


@dataclass(frozen=True)
class IndexAnswer:
    """What an index found. A scope is in `incomplete` where the index does not hold all of it, and then another tier
    has to be asked; in `mismatched` where rows of it have vectors of another model than the query's."""

    candidates: tuple[Candidate, ...]
    statistics: TermStatistics
    incomplete: frozenset[str] = frozenset()
    mismatched: frozenset[str] = frozenset()
    vectors_searched: bool = False


class TierName(StrEnum):
    """Where an answer can come from, in the order asked."""

    CACHE = "cache"
    HOT_VECTORS = "redis_vectors"
    HOT_TEXT = "redis_text"
    STORED_VECTORS = "atlas_vectors"
    STORED_TEXT = "mongo_text"
    COLD = "cold"
    LINKS = "links"


class TierReport(Wire):
    """What became of one tier: how long it took, how many candidates it gave, or why it was skipped."""

    tier: TierName
    ms: float
    candidates: int = 0
    skipped: str | None = None


class MissingCode(StrEnum):
    """Which kind of thing an answer went without."""

    STORE_UNAVAILABLE = "store_unavailable"
    EMBEDDING_FAILED = "embedding_failed"
    EMBEDDING_MISMATCH = "embedding_mismatch"
    INDEX_INCOMPLETE = "index_incomplete"
    NOT_SUPPORTED = "not_supported"
    OUT_OF_TIME = "out_of_time"


class Missing(Wire):
    """A part that an answer went without. `part` is a tier, `query_vector` where the query could not be embedded, or `parts`
    where the parts of the query could not be searched for one by one."""

    part: str
    code: MissingCode
    message: str


class EmptyReason(StrEnum):
    """Which kind of empty an empty answer is."""

    NOTHING_STORED = "nothing_stored"
    NOTHING_SIMILAR = "nothing_similar"
    ALL_FILTERED = "all_filtered"
    NOT_INDEXED_YET = "not_indexed_yet"
    STORE_DOWN = "store_down"


class Empty(Wire):
    """Why nothing came back, and what to do next."""

    reason: EmptyReason
    message: str
    next: str


class Scores(Wire):
    """The parts of a score: cosine as measured, calibrated `similarity` 0 to 1, BM25; the share of the query's words
    that the row holds (`coverage`, 0 to 1); and `fused`, the sum of z-scores and of what else moved it, that the hits are
    ordered by. `question` is the cosine of a prospective question, where that was nearer than the memory itself and raised
    its similarity. `lent` is the share of another hit's score that a hit was raised by which was reached from it."""

    cosine: float | None
    similarity: float | None
    bm25: float
    coverage: float
    fused: float
    question: float | None = None
    lent: float | None = None


class Hit(Wire):
    """One recalled memory. `score` is calibrated, 0 to 1; `notes` are what plugins say of it, by their names.

    `via` is the hit that led to it, where one did and raised it by that. `overrode` names memories that say otherwise
    and that this one holds over, for this reader; `overriddenBy` those that hold over this one, which says more besides."""

    memory: Memory
    score: float
    scores: Scores
    tier: TierName
    why: str
    via: Via | None = None
    overrode: tuple[Override, ...] | None = None
    overridden_by: tuple[Override, ...] | None = None
    notes: dict[str, str] | None = None


class RecallAnswer(Wire):
    """What a recall answers. `route` is how it was searched for, and why so. `degraded` names every part that was missing;
    empty where the answer is whole. `plugins` names those that changed something and those that were left out, and why."""

    recall_id: str
    hits: tuple[Hit, ...]
    empty: Empty | None = None
    route: Route
    tiers: tuple[TierReport, ...]
    degraded: tuple[Missing, ...] = ()
    plugins: tuple[PluginReport, ...] = ()
    cached: bool = False
    took_ms: float = 0.0

    def body(self) -> dict[str, Any]:
        """The answer on the wire."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def text(self) -> str:
        """`body` as JSON text."""
        return self.model_dump_json(by_alias=True, exclude_none=True)


class RecallRecord(Wire):
    """The audit of one recall: ids, scores and the redacted query, never contents. `conditions` are what else was asked, but
    for tags; `candidates` those that ranked first, `leftOut` those that are no hits, and why."""

    recall_id: str
    org_id: str
    user_id: str
    credential: str = ""
    at: UtcTime
    query: str
    scopes: tuple[str, ...]
    route: Route | None = None
    conditions: dict[str, Any] = Field(default_factory=dict)
    cached: bool = False
    candidates: tuple[CandidateRecord, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    hits: tuple[dict[str, Any], ...] = ()
    empty: EmptyReason | None = None
    tiers: tuple[TierReport, ...] = ()
    degraded: tuple[Missing, ...] = ()
