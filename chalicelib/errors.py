"""The error tree, free of HTTP.

    VittoError
     ├─ InvalidInput            a field is wrong; `field` names it            (entry points answer 422)
     ├─ MalformedRequest        the request cannot be read at all             (400)
     ├─ Unauthenticated         no credential, or one that does not hold      (401)
     ├─ Forbidden               the credential holds and does not allow this  (403)
     ├─ NotFound                it is not there for this reader               (404)
     ├─ Conflict                it contradicts what is there                  (409)
     ├─ StaleRevision           `If-Match` names an older revision            (412)
     ├─ RevisionRequired        an edit without `If-Match`                    (428)
     ├─ TooLarge                over a documented limit                       (413)
     ├─ StoreUnavailable        a store is down or too slow                   (503)
     │   └─ NotSupported        the store is well and cannot do this
     ├─ EmbeddingFailed         no vector could be had; callers degrade
     │   └─ EmbeddingMismatch   the vectors at hand are of another model or size
     ├─ LanguageModelFailed     a language model gave nothing of use; only the queue's work asks one
     │   └─ LanguageModelUnavailable  it did not answer: later it may
     └─ Misconfigured           a setting is missing or wrong               (500)

`code` is the stable name on the wire; `docs/errors.md` lists them and a test holds the two together.
"""

from typing import Any, ClassVar


class VittoError(Exception):
    """Root of the tree. `details` is safe to show to the caller: no secrets, nothing of another reader."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class InvalidInput(VittoError):
    """A value is wrong. `field` is its path on the wire, such as `memories.0.content`."""

    code = "invalid_input"

    def __init__(self, field: str, message: str, **details: Any) -> None:
        super().__init__(f"{field}: {message}", field=field, **details)
        self.field = field


class MalformedRequest(VittoError):
    """The body is no JSON, or no object."""

    code = "malformed_request"


class Unauthenticated(VittoError):
    """No credential, or one that is unknown, expired, revoked or not verifiable. It never says which."""

    code = "unauthenticated"


class Forbidden(VittoError):
    """The caller is known and may not do this."""

    code = "forbidden"


class NotFound(VittoError):
    """Nothing of that id for this reader; the same answer whether or not it exists for another."""

    code = "not_found"


class Conflict(VittoError):
    """It contradicts what is stored."""

    code = "conflict"


class DuplicateContent(Conflict):
    """The same normalised content is live in that scope already."""

    code = "duplicate_content"


class IdempotencyConflict(Conflict):
    """The key was used with another body."""

    code = "idempotency_conflict"


class InProgress(Conflict):
    """A request with the same idempotency key is being worked on."""

    code = "in_progress"


class BeingErased(Conflict):
    """Everything that is kept of this user is being erased; until that is done nothing new is taken."""

    code = "being_erased"


class StaleRevision(VittoError):
    """The row was changed since the caller read it."""

    code = "stale_revision"


class RevisionRequired(VittoError):
    """An edit must say which revision it was made against."""

    code = "revision_required"


class TooLarge(VittoError):
    """Over a documented limit, which `details` names."""

    code = "too_large"


class StoreUnavailable(VittoError):
    """A store did not answer in time. `store` is `mongo`, `atlas` (MongoDB's vector search), `redis`, `sqs`
    or `docs` (the target of exports)."""

    code = "store_unavailable"

    def __init__(self, store: str, reason: str) -> None:
        super().__init__(f"{store} is unavailable: {reason}", store=store)
        self.store = store
        self.reason = reason


class NotSupported(StoreUnavailable):
    """The store is well, and does not have what was asked of it: a vector search, or the index for it."""

    code = "not_supported"

    def __init__(self, store: str, reason: str) -> None:
        super().__init__(store, reason)
        self.message = f"{store}: {reason}"


class EmbeddingFailed(VittoError):
    """The embedder gave no usable vector."""

    code = "embedding_failed"


class EmbeddingMismatch(EmbeddingFailed):
    """Stored vectors are of another model or another size than the query's."""

    code = "embedding_mismatch"


class LanguageModelFailed(VittoError):
    """The language model refused, or its answer is not of the form asked for. Asking again gives the same."""

    code = "language_model_failed"


class LanguageModelUnavailable(LanguageModelFailed):
    """The language model did not answer in time, or said to try later."""

    code = "language_model_unavailable"


class Misconfigured(VittoError):
    """A setting is missing or contradicts another; the message says which and what to do."""

    code = "misconfigured"
