"""The paper as an experiment: results as data frames, curves with matplotlib. See docs/lab.md."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from rooco import _rooco


def experiments() -> list[str]:
    """The shipped experiments."""
    return _rooco.lab_list()


def _frame(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("rooco.lab gives its results as pandas frames: pip install pandas") from None
    return pandas.DataFrame(rows)


class Results:
    """The tables of an experiment, as data frames."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.title: str = data["title"]
        self.about: str = data["about"]
        self.points = _frame(data["points"])
        """Regret at the end, with its error and bound: a row a problem, T and algorithm."""
        self.curves = _frame(data.get("curves", []))
        """Regret by round, with its standard error."""

    def plot(self, problem: str | None = None, ax: Any = None) -> Any:
        """Regret by round, one line an algorithm with a band of two standard errors, for the largest T of a problem. Needs matplotlib."""
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("curves are drawn with matplotlib: pip install matplotlib") from None
        curves = self.curves
        problem = curves["problem"].iloc[0] if problem is None else problem
        part = curves[curves["problem"] == problem]
        if part.empty:
            raise ValueError(f"there is no problem {problem!r}; there are {sorted(set(curves['problem']))}")
        part = part[part["t"] == part["t"].max()]
        ax = plt.subplots()[1] if ax is None else ax
        for algorithm, curve in part.groupby("algorithm", sort=False):
            (line,) = ax.plot(curve["round"], curve["regret"], label=algorithm)
            low, high = curve["regret"] - 2 * curve["se"], curve["regret"] + 2 * curve["se"]
            ax.fill_between(curve["round"], low, high, alpha=0.2, color=line.get_color())
        ax.set(xlabel="round", ylabel="regret", title=problem)
        ax.legend()
        return ax


def run(experiment: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None, threads: int = 0) -> Results:
    """Run an experiment: a file, or the name of a shipped one. With a folder, finished cells are kept there and not run again."""
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            return run(experiment, temporary, threads)
    return Results(json.loads(_rooco.lab_run(os.fspath(experiment), folder, threads)))


def paper(only: str | None = None, full: bool = False, seed: int = 1) -> Any:
    """Check the statements of the paper, or those at or below ``only`` (``"lemma-3"``): measured, bound, pass or fail, as a data frame."""
    return _frame(json.loads(_rooco.lab_paper(full, seed, only))["checks"])
