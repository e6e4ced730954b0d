"""The three routes of a recall, what each of them fixes, and the reasons that a route is given for."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache

from pydantic import Field

from chalicelib.domain.scope import Scope
from chalicelib.domain.wire import Wire


class RouteName(StrEnum):
    """`fast` for what needs little, `standard`, and `deep` for what asks for several things at once."""

    FAST = "fast"
    STANDARD = "standard"
    DEEP = "deep"


class RouteCode(StrEnum):
    """Why a route was chosen."""

    GREETING = "greeting"
    VERY_SHORT = "very_short"
    FOLLOW_UP = "follow_up"
    PLAIN = "plain"
    PAST_ASKED = "past_asked"
    COMPARISON = "comparison"
    ALTERNATIVES = "alternatives"
    SEVERAL_ENTITIES = "several_entities"
    SEVERAL_QUESTIONS = "several_questions"
    LONG = "long"
    FORCED = "forced"
    ROUTER_OFF = "router_off"
    ROUTER_FAILED = "router_failed"


class RouteReason(Wire):
    """One reason. The text has counts and no words of the query: it stands in audits that others read."""

    code: RouteCode
    text: str


class Route(Wire):
    """How one query is searched for. `scopes` narrow the reader's chain, None leaves it whole; `links` says whether links
    and shared entities are followed, `prospective` whether memories are found by their questions, `cold` whether what is
    no longer active may be asked."""

    name: RouteName
    scopes: tuple[Scope, ...] | None = None
    max_results: int = Field(ge=1, le=100)
    links: bool = False
    prospective: bool = True
    cold: bool = True
    reasons: tuple[RouteReason, ...] = ()


_TO_A_GREETING = (Scope.ORGANIZATION, Scope.USER)
"""What a greeting is answered from: what is known of the person, and the policies that hold for everyone."""


@cache
def _plans() -> dict[RouteName, Route]:
    """Made when first asked for, since a model's validator is built with the first of its kind."""
    return {
        RouteName.FAST: Route(name=RouteName.FAST, max_results=5, prospective=False, cold=False),
        RouteName.STANDARD: Route(name=RouteName.STANDARD, max_results=10),
        RouteName.DEEP: Route(name=RouteName.DEEP, max_results=20, links=True),
    }


def route_of(name: RouteName, reasons: Sequence[RouteReason]) -> Route:
    """The route of that name, for those reasons."""
    greeted = any(reason.code is RouteCode.GREETING for reason in reasons)
    return _plans()[name].model_copy(
        update={"reasons": tuple(reasons), "scopes": _TO_A_GREETING if greeted and name is RouteName.FAST else None}
    )


def unrouted(code: RouteCode, text: str) -> Route:
    """The standard route, where nobody chose one."""
    return route_of(RouteName.STANDARD, [RouteReason(code=code, text=text)])
