"""`scripts/bench admission --fit`: weights for the fitted features of admission's factors, to be rounded into their modules.

The three factors are fitted together, through the score that they make with the spec's weights: its distance from the
threshold, scaled, is the exponent of a logistic curve whose value there is the chance of being cited at which F1 is best,
half of that F1. A feature keeps its sign, which its meaning gives it. Nothing but the conversations given is looked at.
"""

import math
from collections.abc import Sequence
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from chalicelib.domain.admission import ADMIT_FROM, WEIGHTS, FactorName, Signals
from chalicelib.write.admission import factual_confidence, future_utility, semantic_novelty
from chalicelib.write.admission.judgement import FACTORS
from chalicelib.write.admission.linear import BIAS
from vitto_tools.bench.report import Report

FITTED: dict[FactorName, ModuleType] = {
    FactorName.FUTURE_UTILITY: future_utility,
    FactorName.FACTUAL_CONFIDENCE: factual_confidence,
    FactorName.SEMANTIC_NOVELTY: semantic_novelty,
}
STEEPNESS = 12.0  # of the curve over the score
CHANCE_AT_THRESHOLD = 0.32
RIDGE = 0.0005
STEPS, RATE = 4000, 0.02
Array = NDArray[np.float64]


def fit(report: Report, signals: Sequence[Signals], cited: Sequence[bool]) -> None:
    """Print the weights that fit best, by factor."""
    found = _fitted(signals, np.array(cited, float))
    for name, weights in found.items():
        report.say(f"{name}: " + ", ".join(f"{feature} {weight:+.2f}" for feature, weight in weights.items()))


def _fitted(signals: Sequence[Signals], cited: Array) -> dict[FactorName, dict[str, float]]:
    rest = np.array([_rest(each) for each in signals])
    inputs = {name: _inputs(module, signals) for name, module in FITTED.items()}
    fixed = {name: _fixed(module, signals) for name, module in FITTED.items()}
    weights = {name: np.array(list(module.FITTED.values())) for name, module in FITTED.items()}
    scale = {name: np.append(1.0, values[:, 1:].std(0) + 1e-9) for name, values in inputs.items()}
    scaled = {name: values / scale[name] for name, values in inputs.items()}
    free = {name: weights[name] * scale[name] for name in FITTED}
    meant = {name: np.sign(values[1:]) for name, values in weights.items()}
    momentum = {name: np.zeros((2, len(free[name]))) for name in FITTED}
    for step in range(1, STEPS + 1):
        for name, slope in _slopes(scaled, fixed, free, rest, cited).items():
            first, second = momentum[name]
            first += 0.1 * (slope - first)
            second += 0.001 * (slope**2 - second)
            free[name] -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
            free[name][1:] = np.where(free[name][1:] * meant[name] < 0, 0.0, free[name][1:])
    return {
        name: dict(zip(module.FITTED, (free[name] / scale[name]).tolist(), strict=True))
        for name, module in FITTED.items()
    }


def _slopes(
    inputs: dict[FactorName, Array],
    fixed: dict[FactorName, Array],
    free: dict[FactorName, Array],
    rest: Array,
    cited: Array,
) -> dict[FactorName, Array]:
    scores = {name: _logistic(values @ free[name] + fixed[name]) for name, values in inputs.items()}
    total = rest + sum(WEIGHTS[name] * score for name, score in scores.items())
    shift = math.log(CHANCE_AT_THRESHOLD / (1 - CHANCE_AT_THRESHOLD))
    error = _logistic(STEEPNESS * (total - ADMIT_FROM) + shift) - cited
    found = {}
    for name, score in scores.items():
        pull = error * STEEPNESS * WEIGHTS[name] * score * (1 - score)
        decay = RIDGE * np.append(0.0, free[name][1:])
        found[name] = inputs[name].T @ pull / len(cited) + decay
    return found


def _inputs(module: ModuleType, signals: Sequence[Signals]) -> Array:
    names = [name for name in module.FITTED if name != BIAS]
    rows = [module.features(each) for each in signals]
    return np.array([[1.0, *(row[name] for name in names)] for row in rows])


def _fixed(module: ModuleType, signals: Sequence[Signals]) -> Array:
    rows = [module.features(each) for each in signals]
    return np.array([sum(weight * row[name] for name, weight in module.SET.items()) for row in rows])


def _rest(signals: Signals) -> float:
    return sum(WEIGHTS[name] * score(signals).score for name, score in FACTORS.items() if name not in FITTED)


def _logistic(values: Array) -> Array:
    return 0.5 * (1 + np.tanh(values / 2))
