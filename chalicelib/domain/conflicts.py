"""Which of two memories holds for a reader, by which rule, where both claim something of the same subject and attribute."""

from enum import StrEnum

from chalicelib.domain.scope import Scope
from chalicelib.domain.wire import Wire


class OverrideRule(StrEnum):
    """The rules, in the order in which they decide."""

    POLICY = "policy"
    BROADEST_POLICY = "broadest_policy"
    NARROWEST_SCOPE = "narrowest_scope"
    LATER = "later_event_time"
    IMPORTANCE = "higher_importance"
    ID = "later_id"


class Override(Wire):
    """One memory overridden by another: `id` and its scope are the other one's, for whoever carries this."""

    id: str
    scope: Scope
    scope_id: str
    subject: str
    attribute: str
    rule: OverrideRule
    why: str
