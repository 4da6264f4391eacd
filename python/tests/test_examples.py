"""The studies of the documentation run, and show what they say."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def study(name, **options):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](**options)


def test_every_example_is_tested():
    assert {p.stem for p in EXAMPLES.glob("*.py")} == {"signed_event_weights", "errors_in_variables", "label_privacy", "unlearning"}


def test_signed_event_weights():
    figures = study("signed_event_weights", n=20_000)
    loss = {name: f[0] for name, f in figures.items()}
    # All rows: within 0.005 of the model that knows the truth; those who drop rows are far from it.
    assert loss["rooco, all rows"] < loss["rooco, true labels"] + 0.005
    assert loss["Vowpal Wabbit"] > loss["rooco, all rows"] + 0.015
    assert loss["rooco, negative weights dropped"] > loss["rooco, all rows"] + 0.015
    assert loss["scikit-learn SGDClassifier"] > loss["rooco, all rows"] + 0.01


def test_errors_in_variables():
    slopes = study("errors_in_variables")
    assert slopes["exact naive"] == pytest.approx(-0.70, abs=0.005)
    assert slopes["exact corrected"] == pytest.approx(-1.74, abs=0.01)
    # 20 copies in random order: the standard errors over orders are 0.01 and 0.04.
    assert slopes["naive"] == pytest.approx(slopes["exact naive"], abs=0.04)
    assert slopes["corrected"] == pytest.approx(slopes["exact corrected"], abs=0.12)


def test_label_privacy():
    figures = study("label_privacy", rows=60_000)
    true, private, corrected = (figures[k][0] for k in ("true labels", "private labels as they are", "private labels, corrected"))
    # Curves and pairs have more to lose than lines: with true labels they gain 0.02 on these rows, with corrected ones a fifth less.
    assert corrected < true + 0.02 and private > true + 0.08


def test_unlearning():
    figures = study("unlearning", rows=60_000)
    never, spoiled, back = (figures[k][0] for k in ("never had the spoiled rows", "with the spoiled rows", "spoiled rows taken back"))
    assert back < never + 0.015 and spoiled > never + 0.03
    assert not figures["sorted log is in random order"]
