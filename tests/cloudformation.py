"""A template as CloudFormation takes it, with parameters given: conditions decided, and what depends on them followed.

What only a running stack knows stays as text, `${Name}` for a reference and `${Name.Attribute}` for an attribute.
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

_NOTHING = object()
"""`AWS::NoValue`: whatever has it is left out."""


class Stack:
    """A template with its parameters. KeyError where one is given that the template does not have."""

    def __init__(self, template: Mapping[str, Any], **parameters: str) -> None:
        self._template = template
        self._given = {name: str(said["Default"]) for name, said in template["Parameters"].items()}
        for name, value in parameters.items():
            allowed = template["Parameters"][name].get("AllowedValues", [value])
            assert value in allowed, f"{name} is one of {allowed}"
            self._given[name] = value

    @cached_property
    def resources(self) -> dict[str, Any]:
        """The resources that there are, resolved."""
        return self._there("Resources")

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs that there are, resolved."""
        return self._there("Outputs")

    @property
    def refused(self) -> list[str]:
        """What the template's rules say against these parameters."""
        return [
            one["AssertDescription"]
            for rule in self._template.get("Rules", {}).values()
            if self._holds(rule["RuleCondition"])
            for one in rule["Assertions"]
            if not self._holds(one["Assert"])
        ]

    def properties(self, name: str) -> dict[str, Any]:
        """The properties of a resource; of a function with what is global to all."""
        made = self.resources[name]
        found: dict[str, Any] = made["Properties"]
        if made["Type"] != "AWS::Serverless::Function":
            return found
        shared = self.resolved(self._template["Globals"]["Function"])
        variables = shared["Environment"]["Variables"] | found.get("Environment", {}).get("Variables", {})
        return {**shared, **found, "Environment": {"Variables": variables}}

    def resolved(self, value: Any) -> Any:
        """A value of the template with its functions followed."""
        if isinstance(value, list):
            return [one for one in map(self.resolved, value) if one is not _NOTHING]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name in self._functions:
                return self._functions[name](argument)
        return {key: one for key, said in value.items() if (one := self.resolved(said)) is not _NOTHING}

    @property
    def _functions(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "Ref": self._ref,
            "Fn::If": lambda said: self.resolved(said[1] if self._condition(said[0]) else said[2]),
            "Fn::Sub": self._sub,
            "Fn::GetAtt": lambda said: f"${{{'.'.join(said)}}}",
            "Fn::Split": lambda said: str(self.resolved(said[1])).split(said[0]),
            "Fn::Select": self._select,
        }

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return _NOTHING
        return self._given.get(name, f"${{{name}}}")

    def _sub(self, said: Any) -> str:
        text, own = said if isinstance(said, list) else (said, {})
        known = self.resolved(own)
        return re.sub(r"\$\{([^}]+)\}", lambda found: str(known.get(found[1]) or self._ref(found[1])), text)

    def _select(self, said: list[Any]) -> Any:
        number, of = said
        found = self.resolved(of)
        return found[number] if isinstance(found, list) else {"Fn::Select": [number, found]}

    def _there(self, section: str) -> dict[str, Any]:
        return {
            name: self.resolved(said)
            for name, said in self._template[section].items()
            if "Condition" not in said or self._condition(said["Condition"])
        }

    def _condition(self, name: str) -> bool:
        return self._holds(self._template["Conditions"][name])

    def _holds(self, condition: dict[str, Any]) -> bool:
        ((name, argument),) = condition.items()
        if name == "Condition":
            return self._condition(argument)
        if name == "Fn::Equals":
            one, other = map(self.resolved, argument)
            return str(one) == str(other)
        held = map(self._holds, argument)
        return {"Fn::Not": lambda: not next(held), "Fn::And": lambda: all(held), "Fn::Or": lambda: any(held)}[name]()
