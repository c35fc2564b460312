"""What methods share in learning, one definition each; methods import from here, never from each other.

- rows: `farthing.base.TrainingSet` is what methods learn from; `holdout`, `folds` and `bootstrap` split and
  sample it, `random_numbers` has the counter-based generator behind all draws
- trees: `losses`, `booster` (trees on gradients), `ledgers` (who pays for a split), `early_stopping`,
  `out_of_fold` and `fold_boosters` (boosters that score rows they were not trained on), `score_bounds`
- linear models: `linear_design`, `linear_scores`, `logistic`, `forward_regression`, `group_penalty`,
  `proximal_descent`, `adam`
- models of scikit-learn as parts of others: `sklearn_model`, `sklearn_fit`, `sklearn_files`, `spread_classes`
- decisions: `calibration`, `exits`, `thresholds`, `affordable`, `feature_prices`, `tradeoff_grid`
- `voting`: weighted votes of weak learners, their sampling and curtailment
"""

__all__: list[str] = []
