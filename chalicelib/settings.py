"""Every setting, in frozen slices. Nothing is read at import: `Settings.from_environment` is called by bootstrap.

`docs/settings.md` lists them with their defaults; a test holds the two together.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from chalicelib.errors import Misconfigured


def setting(name: str, default: Any, description: str, *, secret: bool = False, **bounds: Any) -> Any:
    """A field read from the environment variable `name`. A `secret` one may be a reference (see `adapters.aws_secrets`)."""
    return Field(default, description=description, json_schema_extra={"environment": name, "secret": secret}, **bounds)


class Slice(BaseModel):
    """One group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # see domain.wire


class MongoSettings(Slice):
    """The truth."""

    uri: str = setting("VITTO_MONGO_URI", "", "Connection string of MongoDB; required.", secret=True)
    database: str = setting("VITTO_MONGO_DATABASE", "vitto", "Database name.")
    pool_size: int = setting("VITTO_MONGO_POOL_SIZE", 10, "Connections a process may hold.", ge=1, le=100)
    read_seconds: float = setting("VITTO_MONGO_READ_SECONDS", 0.6, "Limit of one read.", gt=0, le=30)
    search_seconds: float = setting("VITTO_MONGO_SEARCH_SECONDS", 0.6, "Limit of one vector search.", gt=0, le=30)
    write_seconds: float = setting(
        "VITTO_MONGO_WRITE_SECONDS", 2.0, "Limit of one write to a server that is there.", gt=0, le=30
    )
    select_seconds: float = setting("VITTO_MONGO_SELECT_SECONDS", 0.3, "Limit of looking for a server.", gt=0, le=30)


class RedisSettings(Slice):
    """What makes recall fast. Without a URL the product runs on MongoDB alone and says so."""

    url: str = setting("VITTO_REDIS_URL", "", "URL of Redis 8 or of a Valkey; empty runs without.", secret=True)
    pool_size: int = setting(
        "VITTO_REDIS_POOL_SIZE", 20, "Connections a process may hold, quick and bulk each.", ge=1, le=200
    )
    seconds: float = setting("VITTO_REDIS_SECONDS", 0.25, "Limit of one call.", gt=0, le=10)
    bulk_seconds: float = setting(
        "VITTO_REDIS_BULK_SECONDS", 5.0, "Limit of one call that writes a batch.", gt=0, le=60
    )


class QueueSettings(Slice):
    """Where work that no request waits for is queued: SQS by its URL, else the Redis, else nowhere: schedules find it."""

    sqs_url: str = setting("VITTO_QUEUE_SQS_URL", "", "URL of an SQS standard queue; empty is the Redis.")
    sqs_seconds: float = setting("VITTO_QUEUE_SQS_SECONDS", 1.0, "Limit of one call to SQS.", gt=0, le=20)
    sqs_wait_seconds: int = setting(
        "VITTO_QUEUE_SQS_WAIT_SECONDS", 1, "How long a consumer waits for a message; 0 may miss some.", ge=0, le=20
    )
    visibility_seconds: int = setting(
        "VITTO_QUEUE_VISIBILITY_SECONDS", 180, "How long a consumer has for a task.", ge=1, le=43200
    )
    attempts: int = setting(
        "VITTO_QUEUE_ATTEMPTS",
        8,
        "Attempts before a task is a dead letter; on SQS its redrive policy says.",
        ge=1,
        le=1000,
    )


class EmbeddingSettings(Slice):
    """Who turns text into vectors: any server that speaks OpenAI's embeddings API."""

    base_url: str = setting("VITTO_EMBEDDING_BASE_URL", "", "Base URL; empty is OpenAI's own.")
    api_key: str = setting("VITTO_EMBEDDING_API_KEY", "", "Bearer key of that server.", secret=True)
    passage_model: str = setting("VITTO_EMBEDDING_MODEL", "text-embedding-3-small", "Model for what is stored.")
    query_model: str = setting("VITTO_EMBEDDING_QUERY_MODEL", "", "Model for queries; empty is the same one.")
    dimensions: int = setting("VITTO_EMBEDDING_DIMENSIONS", 256, "Size of stored vectors.", ge=8, le=4096)
    query_seconds: float = setting("VITTO_EMBEDDING_QUERY_SECONDS", 1.5, "Limit of embedding a query.", gt=0, le=20)
    passage_seconds: float = setting(
        "VITTO_EMBEDDING_PASSAGE_SECONDS",
        10.0,
        "Limit of embedding what a request stores; the rest stays pending.",
        gt=0,
        le=120,
    )
    retries: int = setting(
        "VITTO_EMBEDDING_RETRIES", 2, "Repeats with backoff after a failed call, within that limit.", ge=0, le=10
    )
    batch: int = setting("VITTO_EMBEDDING_BATCH", 32, "Texts a call.", ge=1, le=2048)
    use_dual_index: bool = setting(
        "VITTO_EMBEDDING_USE_DUAL_INDEX",
        default=False,
        description="Read the old 1536-dimensional vectors where the new ones are missing.",
    )
    calibrations: str = setting(
        "VITTO_EMBEDDING_CALIBRATIONS", "", "File with calibrations of further models (vitto calibrate)."
    )


class LanguageModelSettings(Slice):
    """Who writes what only a language model can: any server that speaks OpenAI's chat completions. Only the queue
    asks it."""

    model: str = setting("VITTO_LLM_MODEL", "", "Model, the cheapest that follows a schema; empty is none.")
    base_url: str = setting("VITTO_LLM_BASE_URL", "", "Base URL; empty is OpenAI's own.")
    api_key: str = setting("VITTO_LLM_API_KEY", "", "Bearer key of that server.", secret=True)
    seconds: float = setting("VITTO_LLM_SECONDS", 20.0, "Limit of one call.", gt=0, le=120)
    input_characters: int = setting(
        "VITTO_LLM_INPUT_CHARACTERS", 24000, "Characters that one call may be given.", ge=1000, le=1_000_000
    )
    output_tokens: int = setting("VITTO_LLM_OUTPUT_TOKENS", 2000, "Tokens that one answer may have.", ge=50, le=16000)


class DocsSettings(Slice):
    """Where memories are exported to as documents."""

    url: str = setting("VITTO_DOCS_URL", "", "Base URL of a docs service; empty is none, and no export.")
    token: str = setting("VITTO_DOCS_TOKEN", "", "Bearer token of that service.", secret=True)
    project: str = setting(
        "VITTO_DOCS_PROJECT",
        "vitto-memory",
        "Project there; `{organization}` in it stands for the organization's name.",
        min_length=1,
        max_length=100,
    )
    seconds: float = setting("VITTO_DOCS_SECONDS", 10.0, "Limit of one call to that service.", gt=0, le=120)


class AuthSettings(Slice):
    """Who may come in. Authentication is always on."""

    issuers: str = setting(
        "VITTO_AUTH_ISSUERS",
        "[]",
        'JSON list of JWT issuers: issuer, audience, jwksUrl, organizations (names, or ["*"] for all).',
    )
    key_cache_seconds: float = setting(
        "VITTO_AUTH_KEY_CACHE_SECONDS", 60.0, "How long a process trusts an API key it has verified.", ge=0, le=60
    )


class BreakerSettings(Slice):
    """When a store that fails is left alone. One breaker a store and process."""

    failures: int = setting("VITTO_BREAKER_FAILURES", 3, "Failures in a row after which a store rests.", ge=1, le=100)
    seconds: float = setting(
        "VITTO_BREAKER_SECONDS", 1.0, "Its first rest; each trial that fails doubles it.", gt=0, le=60
    )
    most_seconds: float = setting("VITTO_BREAKER_MOST_SECONDS", 15.0, "Its longest rest.", gt=0, le=600)


class RecallSettings(Slice):
    """How recall searches."""

    seconds: float = setting("VITTO_RECALL_SECONDS", 3.0, "Time of one recall, all tiers together.", gt=0, le=28)

    candidates: int = setting("VITTO_RECALL_CANDIDATES", 100, "Candidates a signal and scope.", ge=10, le=200)
    abstain_below: float = setting(
        "VITTO_RECALL_ABSTAIN_BELOW", 0.35, "Best calibrated score under which nothing is near.", ge=0, le=1
    )
    floor: float = setting(
        "VITTO_RECALL_FLOOR",
        0.02,
        "Calibrated score under which a hit is noise and left out, unless what was said around it raised it.",
        ge=0,
        le=1,
    )
    prospective: bool = setting(
        "VITTO_RECALL_PROSPECTIVE",
        True,  # noqa: FBT003 - the default of a switch
        "Whether the prospective questions of a memory find it.",
    )
    use_names_out: bool = setting(
        "VITTO_RECALL_USE_NAMES_OUT",
        default=True,
        description="Whether a query is embedded without the names of those who speak in its scopes.",
    )
    use_surroundings: bool = setting(
        "VITTO_RECALL_USE_SURROUNDINGS",
        default=True,
        description="Whether what was said around a memory in its session counts for it.",
    )
    use_speakers: bool = setting(
        "VITTO_RECALL_USE_SPEAKERS",
        default=True,
        description="Whether the words of the one speaker whom a query names count more.",
    )
    use_times: bool = setting(
        "VITTO_RECALL_USE_TIMES",
        default=True,
        description="Whether what happened when a query asks about counts more.",
    )
    use_user_over_assistant: bool = setting(
        "VITTO_RECALL_USE_USER_OVER_ASSISTANT",
        default=True,
        description="Whether what an assistant said counts less than what others said.",
    )
    cache_seconds: int = setting("VITTO_RECALL_CACHE_SECONDS", 60, "Life of a cached answer; 0 is off.", ge=0, le=60)
    query_cache_seconds: int = setting(
        "VITTO_RECALL_QUERY_CACHE_SECONDS", 86400, "Life of a query's vector.", ge=0, le=2592000
    )


class PluginSettings(Slice):
    """Further plugins, and how long any may take. An organization's admins switch them (docs/plugins.md)."""

    listed: str = setting(
        "VITTO_PLUGINS", "", "Plugins to load at the start: package.module:PluginClass, comma separated."
    )
    before_seconds: float = setting(
        "VITTO_PLUGINS_BEFORE_SECONDS", 0.1, "Limit of one plugin at a hook before a response.", gt=0, le=5
    )
    after_seconds: float = setting(
        "VITTO_PLUGINS_AFTER_SECONDS", 0.5, "Limit of one plugin at a hook after a response.", gt=0, le=5
    )
    rest_seconds: float = setting(
        "VITTO_PLUGINS_REST_SECONDS", 60.0, "Rest of a plugin that was cut off three times in a row.", gt=0, le=3600
    )


class ErasureSettings(Slice):
    """Erasing what is kept of a person (docs/personal-data.md)."""

    grace_seconds: float = setting(
        "VITTO_ERASURE_GRACE_SECONDS",
        120.0,
        "Time between the two looks of an erasure: longer than any request and any work of the queue.",
        ge=0,
        le=86400,
    )


class HttpSettings(Slice):
    """The HTTP surface."""

    seconds: float = setting(
        "VITTO_HTTP_SECONDS", 25.0, "Time of one request; the gateway gives up after 29 s.", gt=0, le=28
    )

    allowed_origins: str = setting(
        "VITTO_HTTP_ALLOWED_ORIGINS", "", "Origins that browsers may call from, comma separated; empty is none."
    )
    allowed_hosts: str = setting(
        "VITTO_HTTP_ALLOWED_HOSTS", "", "Host names that the WSGI server answers to, comma separated; empty is all."
    )


class Settings(Slice):
    """All slices."""

    mongo: MongoSettings = Field(default_factory=MongoSettings)
    redis: RedisSettings = Field(default_factory=RedisSettings)
    queue: QueueSettings = Field(default_factory=QueueSettings)
    embedding: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    language_model: LanguageModelSettings = Field(default_factory=LanguageModelSettings)
    docs: DocsSettings = Field(default_factory=DocsSettings)
    auth: AuthSettings = Field(default_factory=AuthSettings)
    breaker: BreakerSettings = Field(default_factory=BreakerSettings)
    recall: RecallSettings = Field(default_factory=RecallSettings)
    plugins: PluginSettings = Field(default_factory=PluginSettings)
    erasure: ErasureSettings = Field(default_factory=ErasureSettings)
    http: HttpSettings = Field(default_factory=HttpSettings)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings that `environment` gives. Misconfigured names a variable that is wrong or unknown."""
        known = {name for _, _, name, _ in cls.table()}
        if unknown := sorted(n for n in environment if n.startswith("VITTO_") and n not in known | NOT_SETTINGS):
            raise Misconfigured(f"unknown setting {', '.join(unknown)}; docs/settings.md lists them all")
        values: dict[str, dict[str, Any]] = {}
        for slice_name, field_name, variable, info in cls.table():
            if variable in environment:
                parsed = _parsed(variable, environment[variable], info)
                values.setdefault(slice_name, {})[field_name] = parsed
        return cls.model_validate(values)

    @classmethod
    def table(cls) -> Iterator[tuple[str, str, str, FieldInfo]]:
        """Every setting: slice, field, environment variable, and what pydantic knows of it."""
        for slice_name, slice_info in cls.model_fields.items():
            assert isinstance(slice_info.annotation, type)
            assert issubclass(slice_info.annotation, Slice)
            for field_name, info in slice_info.annotation.model_fields.items():
                assert isinstance(info.json_schema_extra, dict)
                yield slice_name, field_name, str(info.json_schema_extra["environment"]), info

    @classmethod
    def secret_variables(cls) -> frozenset[str]:
        """The variables that carry secrets, and may therefore name where one is kept instead."""
        return frozenset(name for _, _, name, info in cls.table() if (info.json_schema_extra or {})["secret"])  # type: ignore[index]


NOT_SETTINGS = frozenset(
    {
        "VITTO_URL",
        "VITTO_API_KEY",
        "VITTO_BENCH_DATA",
        "VITTO_BENCH_EMBEDDINGS",
        "VITTO_HOME",
        "VITTO_TEST_ATLAS_URI",
        "VITTO_TEST_REDIS_SEARCH",
    }
)
"""Variables of the command line, the benches and the tests, which share the prefix and are nothing to the service."""


def _parsed(variable: str, text: str, info: FieldInfo) -> Any:
    try:
        return TypeAdapter(_annotated(info)).validate_python(text)
    except ValidationError as error:
        raise Misconfigured(f"{variable}: {error.errors()[0]['msg']}") from None


def _annotated(info: FieldInfo) -> Any:
    return Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
