"""What a template's values are with its parameters given, as far as parameters decide it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_REFERENCE = re.compile(r"secretsmanager:(?P<secret>[^#]+)#(?P<key>.+)")
_NAMED = re.compile(r"\$\{(\w+)\}")


class Evaluated:
    """A template with these values of its parameters; a parameter that is not given has its default."""

    def __init__(self, template: Mapping[str, Any], given: Mapping[str, str]) -> None:
        self._template = template
        defaults = {name: said.get("Default") for name, said in template.get("Parameters", {}).items()}
        self.parameters = {name: str(value) for name, value in {**defaults, **given}.items() if value is not None}

    def secrets(self) -> dict[str, set[str]]:
        """The keys that the functions' variables refer to, by secret."""
        found: dict[str, set[str]] = {}
        for value in self._variables():
            if isinstance(value, str) and (match := _REFERENCE.fullmatch(value)):
                found.setdefault(match["secret"], set()).add(match["key"])
        return found

    def _variables(self) -> Iterator[Any]:
        shared = self._template.get("Globals", {}).get("Function", {})
        properties = [one.get("Properties", {}) for one in self._template["Resources"].values()]
        for said in (shared, *properties):
            for value in said.get("Environment", {}).get("Variables", {}).values():
                yield self.value(value)

    def value(self, said: Any) -> Any:
        """A value; what only the stack can tell stays as it is written."""
        if not isinstance(said, dict) or len(said) != 1:
            return said
        ((function, argument),) = said.items()
        if function == "Ref":
            return self.parameters.get(argument, said)
        if function == "Fn::Sub" and isinstance(argument, str):
            return _NAMED.sub(lambda found: self.parameters.get(found[1], found[0]), argument)
        if function == "Fn::If":
            return self.value(argument[1] if self.holds(argument[0]) else argument[2])
        return said

    def holds(self, condition: Any) -> bool:
        """Whether a condition, by its name or as it is written, holds."""
        if isinstance(condition, str):
            return self.holds(self._template["Conditions"][condition])
        ((function, argument),) = condition.items()
        if function == "Condition":
            return self.holds(argument)
        if function == "Fn::Equals":
            left, right = (self.value(one) for one in argument)
            return bool(str(left) == str(right))
        held = [self.holds(one) for one in argument]
        return not held[0] if function == "Fn::Not" else all(held) if function == "Fn::And" else any(held)
