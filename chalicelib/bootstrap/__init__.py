"""The composition root: one container a process, made at first use.

Services and adapters are imported with the first container, not with the application: what is imported at a start is what
every process needs.
"""

import importlib
import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chalicelib.bootstrap.building import Ports as Ports
    from chalicelib.bootstrap.building import build_ports as build_ports
    from chalicelib.bootstrap.building import make_indexes as make_indexes
    from chalicelib.bootstrap.building import mongo_connection as mongo_connection
    from chalicelib.bootstrap.building import settings_of as settings_of
    from chalicelib.bootstrap.building import system_clock as system_clock
    from chalicelib.bootstrap.building import traced as traced
    from chalicelib.bootstrap.services import Container as Container

_HOMES = {
    "Container": "services",
    **dict.fromkeys(
        ("Ports", "build_ports", "make_indexes", "mongo_connection", "settings_of", "system_clock", "traced"),
        "building",
    ),
}


def __getattr__(name: str) -> Any:
    """A name of `building` or `services`, which are imported for it."""
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(importlib.import_module(f"chalicelib.bootstrap.{_HOMES[name]}"), name)


_lock = threading.Lock()
_container: "Container | None" = None


def container() -> "Container":
    """The container of this process, made from the environment at first use."""
    global _container  # noqa: PLW0603 - one pool a process is the point (faults.md 36)
    if _container is None:
        with _lock:
            if _container is None:
                from chalicelib.bootstrap.building import build_ports, settings_of, traced  # noqa: PLC0415
                from chalicelib.bootstrap.services import Container  # noqa: PLC0415 - see the module

                settings = settings_of(os.environ)
                ports = build_ports(settings)
                in_lambda = "AWS_LAMBDA_FUNCTION_NAME" in os.environ
                stores = traced(ports) if in_lambda else ports
                _container = Container(settings, stores, sleeps=in_lambda, marks_later=True)
    return _container


def use(replacement: "Container | None") -> None:
    """Set the container of this process; tests do, with fakes, and take it away again with None."""
    global _container  # noqa: PLW0603 - as in `container`
    _container = replacement
