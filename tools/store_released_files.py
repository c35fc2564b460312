"""Store a small model of every method, and what it decides, for the tests of later versions.

    python tools/store_released_files.py [METHOD ...]

Run it once for each release, see docs/releases.md; tests/store/test_released_files.py loads the files of all
of them. With names of methods, only these are stored, and all others are left as they are.
"""

import json
import math
import sys
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


def table_rows_of(model: Any, problem: Any) -> list[dict[str, Any]]:
    """Return the values of some rows and what the array calls decide.

    For devices, whose answers in a walk are messages, which JSON cannot hold.
    """
    X = np.asarray(problem.X, dtype=np.float64)[:N_ROWS]
    found = model.decide(X)
    shares = found.probabilities
    return [
        {
            "values": plain(X[row]),
            "prediction": plain(found.prediction[row]),
            "probabilities": None if shares is None else plain(shares[row]),
            "spent": plain(found.spent[row]),
            "acquired": [
                name
                for name, bought in zip(model.costs_.features, found.acquired[row], strict=True)
                if bought
            ],
        }
        for row in range(len(X))
    ]


def main(names: list[str]) -> None:
    """Fit, save and consult a model of every registered method, or of some."""
    folder = FOLDER / farthing.__version__
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / "decisions.json"
    decided = json.loads(stored.read_text(encoding="utf-8")) if names else {}
    for name in names or registered():
        estimator = trials(name)[-1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = next(iter(problems(estimator)))
            model = fit(estimator, problem)
            model.save(folder / f"{name}.farthing")
            decided[name] = (table_rows_of if estimator.asks == "devices" else rows_of)(model, problem)
    decided = dict(sorted(decided.items()))
    text = json.dumps(decided, indent=None, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    stored.write_text(text.replace('],"', '],\n"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
