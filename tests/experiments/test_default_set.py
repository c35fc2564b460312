"""The page of the default set says which methods do not earn their place."""

from experiments.boards.default_set import stored, text_of
from experiments.lib.stored_pages import StoredPage, Table

TABLE = Table(
    ("what is tried", "sonar", "ecoli", "mean"),
    (
        ("the default set", "0.7", "0.7", "0.7000"),
        ("all methods", "0.7", "0.7", "0.7100"),
        ("the default set without EarlyExit", "0.7", "0.7", "0.6900"),
        ("the default set without AdaBoostClassifier", "0.7", "0.7", "0.7020"),
        ("the default set, the best score", "0.7", "0.7", "0.6500"),
        ("all methods, the best score", "0.7", "0.7", "0.6500"),
    ),
)


def test_methods_that_bring_nothing_are_named():
    text = text_of(TABLE, "sonar 3, ecoli 5")
    assert "the default set loses nothing on average: AdaBoostClassifier (+0.0020 without it)." in text
    assert "the accuracy changes by +0.0100" in text
    assert "rule of choice is +0.0500 above" in text
    assert "Fewer than the 5 folds: sonar 3." in text
    assert "Not measured: bupa_liver," in text
    assert stored(StoredPage(text, "", "")) == text
