"""JSON schemas of the wire: inputs closed, answers open, and of an answer only what is always there is required."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from chalicelib.entrypoints.contract import Answer


class WireSchema(GenerateJsonSchema):
    """Pydantic's schemas, but as `contract.on_wire` answers: what is None is left out, and an answer may gain fields."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """The schema of a model."""
        made = super().model_schema(schema)
        if self.mode == "serialization":
            made.pop("additionalProperties", None)
            _say_null(made, schema["cls"])
        made.pop("title", None)
        made["description"] = " ".join(made["description"].split())
        return made

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """An answer has no null but where `_say_null` puts it."""
        if self.mode == "serialization":
            return self.generate_inner(schema["schema"])
        return super().nullable_schema(schema)

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """A default that is null says nothing: the field may be left out."""
        made = super().default_schema(schema)
        if "default" in made and (made["default"] is None or self.mode == "serialization"):
            del made["default"]
        return made

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: FBT001 - pydantic's signature
        """Whether the field is always there."""
        if self.mode == "serialization":
            return not _may_be_null(field["schema"])
        return super().field_is_required(field, total)

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        """A title that repeats the field's name says nothing."""
        return False


def _may_be_null(schema: Any) -> bool:
    while schema["type"] in {"default", "function-before", "function-after", "function-wrap"}:
        schema = schema["schema"]
    return bool(schema["type"] == "nullable")


def _say_null(made: JsonSchemaValue, model: type[Any]) -> None:
    for name in model.said_when_null if issubclass(model, Answer) else ():
        said = made["properties"][name]
        said["type"] = [said["type"], "null"]
        made["required"].append(name)
