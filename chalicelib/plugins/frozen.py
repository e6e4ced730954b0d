"""Copies that a plugin cannot change anything through: models are frozen already, dictionaries in them become so here."""

from typing import Any, NoReturn, Self

from chalicelib.domain.memory import Memory


class FrozenDict(dict[str, Any]):
    """A dictionary that refuses to change."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("what a hook shows cannot be changed; give a change back instead")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def frozen(value: Any) -> Any:
    """`value` with every dictionary and list in it frozen."""
    if isinstance(value, dict):
        return FrozenDict({name: frozen(item) for name, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    return value


def shown(memory: Memory) -> Memory:
    """`memory` as plugins see it: without its vectors."""
    return memory.model_copy(update={"embedding": None, "admission": frozen(memory.admission)})
