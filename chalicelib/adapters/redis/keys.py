"""The names of everything in Redis. A scope's key is encoded (`domain.keys`): the `:` between the parts is never its own."""

from urllib.parse import quote

PREFIX = "vm"
AUDIT_QUEUE = f"{PREFIX}:audit"
WANTED = f"{PREFIX}:wanted"
CHANGED = f"{PREFIX}:changed"
CHUNKS = f"{PREFIX}:h:"


def rows(scope_key: str) -> str:
    """Hash: id → what the index holds of it (revision, terms, chunks, filter fields)."""
    return f"{PREFIX}:d:{scope_key}"


def postings(scope_key: str) -> str:
    """Prefix of the sorted sets: id → BM25 impact, one a term."""
    return f"{PREFIX}:p:{scope_key}:"


def vectors(scope_key: str, model: str) -> str:
    """Vector set of one model: `id#chunk`."""
    return f"{PREFIX}:v:{scope_key}:{quote(model, safe='')}"


def chunks_of_size(dimensions: int) -> str:
    """Prefix of the hashes that one index of the search module covers: all chunks of one size."""
    return f"{CHUNKS}{dimensions}:"


def chunks(dimensions: int, scope_key: str, model: str) -> str:
    """Prefix of the hashes `id#chunk` of one scope and model."""
    return f"{chunks_of_size(dimensions)}{scope_key}:{quote(model, safe='')}:"


def chunk_index(dimensions: int) -> str:
    """Name of the search module's index over the chunks of one size; not a key."""
    return f"{PREFIX}:i:{dimensions}"


def filling(dimensions: int) -> str:
    """Marker: the index over the chunks of one size was made anew and may not hold all of them yet."""
    return f"{PREFIX}:f:{dimensions}"


def questions(scope_key: str) -> str:
    """Hash: id → what the index holds of a row's prospective questions."""
    return f"{PREFIX}:u:{scope_key}"


def question_vectors(scope_key: str, model: str) -> str:
    """Vector set of the questions of one model: `id#number`."""
    return f"{PREFIX}:w:{scope_key}:{quote(model, safe='')}"


def question_postings(scope_key: str) -> str:
    """Prefix of the sorted sets: id → impact, one a term that a row's questions hold and its text does not."""
    return f"{PREFIX}:o:{scope_key}:"


def places(scope_key: str) -> str:
    """Hash: id → where a row was said; with a session behind it, the sorted set of the session's rows by event time."""
    return f"{PREFIX}:s:{scope_key}"


def speakers(scope_key: str) -> str:
    """Hash: word of a speaker's name → number of rows that they said."""
    return f"{PREFIX}:n:{scope_key}"


def models(scope_key: str) -> str:
    """Hash: model → number of rows with vectors of it."""
    return f"{PREFIX}:m:{scope_key}"


def generation(scope_key: str) -> str:
    """Counter that every write of the scope moves."""
    return f"{PREFIX}:g:{scope_key}"


def complete(scope_key: str) -> str:
    """The vector driver and the format under which the index holds all of the scope; with another it is elsewhere."""
    return f"{PREFIX}:c:{scope_key}"


def rebuild(scope_key: str) -> str:
    """Token of the rebuild under way."""
    return f"{PREFIX}:b:{scope_key}"


def tombstone(scope_key: str, id_: str) -> str:
    """Revision at which a row left, for as long as an older one could still arrive."""
    return f"{PREFIX}:x:{scope_key}:{id_}"


def answer(key: str) -> str:
    """Hash: a cached answer with its generations."""
    return f"{PREFIX}:a:{key}"


def answers(org_key: str) -> str:
    """Sorted set: the cached answers of an organization by the time they end, in seconds since 1970."""
    return f"{PREFIX}:l:{org_key}"


def query_vector(key: str) -> str:
    """The vectors of a query and of its parts; the names that they were embedded without stand behind it."""
    return f"{PREFIX}:q:{key}"


def queue(part: str) -> str:
    """A part of the task queue, which is one for all organizations: each message names its scope."""
    return f"{PREFIX}:queue:{part}"


def temporary(token: str) -> str:
    """Something of one request, gone in seconds."""
    return f"{PREFIX}:t:{token}"
