"""Store a small model of every method, and what it decides, for the tests of later versions.

    python tools/store_released_files.py

Run it once for each release, see docs/releases.md; tests/store/test_released_files.py loads the files of all
of them.
"""

import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import farthing
from farthing.base import registered, trials
from farthing.checks.fitting import fit
from farthing.checks.problems import problems
from farthing.checks.walking import source_of
from farthing.walks import consult

FOLDER = Path(__file__).parents[1] / "tests" / "store" / "released"
N_ROWS = 4


def plain(value: Any) -> Any:
    """Return a value as JSON holds it; NaN as null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def rows_of(model: Any, problem: Any) -> list[dict[str, Any]]:
    """Return the answers of some rows and what the model decides."""
    rows = []
    for row in range(N_ROWS):
        source = source_of(model, problem, row)
        answers = {name: source[name] for name in model.costs_.features[: model.costs_.n_columns]}
        decision = consult(model, answers, seed=row)
        shares = decision.probabilities
        rows.append(
            {
                "answers": {name: plain(value) for name, value in answers.items()},
                "prediction": plain(decision.prediction),
                "probabilities": None if shares is None else [plain(share) for share in shares.values()],
                "spent": decision.spent,
                "acquired": list(decision.acquired),
            }
        )
    return rows


def main() -> None:
    """Fit, save and consult a model of every registered method."""
    folder = FOLDER / farthing.__version__
    folder.mkdir(parents=True, exist_ok=True)
    decided = {}
    for name in registered():
        estimator = trials(name)[-1]
        if estimator.asks == "devices":  # their answers are messages, which JSON cannot hold
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = next(iter(problems(estimator)))
            model = fit(estimator, problem)
            model.save(folder / f"{name}.farthing")
            decided[name] = rows_of(model, problem)
    text = json.dumps(decided, indent=None, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    (folder / "decisions.json").write_text(text.replace('],"', '],\n"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
