"""What is known of an embedding model: how its cosines read on the scale of 0 to 1, and how long a text it takes.

A calibration is a logistic curve through `middle`, the cosine at which a pair is as likely related as not, with `width` the
cosine step in which the odds grow e-fold. `vitto calibrate MODEL` makes one and shows how well it separates.
"""

import math

from pydantic import Field

from chalicelib.domain.wire import Wire
from chalicelib.errors import Misconfigured


class Calibration(Wire):
    """One model's curve and the longest text, in characters, that goes to it in one piece."""

    middle: float = Field(ge=-1, le=1)
    width: float = Field(gt=0, le=2)
    chunk_characters: int = Field(ge=100)

    def similarity(self, cosine: float) -> float:
        """`cosine` on the common scale, 0 to 1."""
        return 0.5 * (1 + math.tanh((cosine - self.middle) / self.width / 2))


CALIBRATIONS: dict[str, dict[str, float]] = {
    "e5-passage": {"middle": 0.8015, "width": 0.0094, "chunk_characters": 800},
    "text-embedding-3-small": {"middle": 0.35, "width": 0.07, "chunk_characters": 8000},
}
"""By the name of the passage model. e5-passage: measured here by `vitto calibrate` on its built-in pairs. For
text-embedding-3-small no server could be reached when this was written: the curve follows the cosines that OpenAI's cookbook
shows for related and unrelated texts; run `vitto calibrate` against your account and set VITTO_EMBEDDING_CALIBRATIONS."""


def calibration_of(model: str, further: dict[str, Calibration]) -> Calibration:
    """The calibration of `model`. Misconfigured without one, since scores would mean nothing."""
    if found := further.get(model):
        return found
    if model not in CALIBRATIONS:
        raise Misconfigured(
            f"embedding model {model!r} has no calibration; make one with: vitto calibrate {model} --write FILE, "
            "then set VITTO_EMBEDDING_CALIBRATIONS=FILE"
        )
    return Calibration.model_validate(CALIBRATIONS[model])
