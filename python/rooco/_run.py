"""What a run has come to, and who can go on from there."""

from __future__ import annotations

import json
from typing import Any

from rooco._rooco import Learner, Model


class _Run:
    """What a run has come to. It sits behind one attribute, so that looking at a model changes no estimator."""

    def __init__(
        self, learner: Learner | None, options: str, model: Model | None = None, order: str | None = None, rows: int = -1
    ) -> None:
        self.learner = learner
        self.options = options
        # The last model that was written out, after how many rows, and what the order test said then: one value, since another thread may learn meanwhile.
        self._last: tuple[Model, int, str | None] | None = None if model is None else (model, rows, order)

    def _now(self) -> tuple[Model, int, str | None]:
        """The model as of the last row; written out when it is asked for. Waits for a thread that is in the middle of its rows."""
        last = self._last
        if last is None or (self.learner is not None and self.learner.rows != last[1]):
            assert self.learner is not None
            model, rows = self.learner.model()
            self._last = last = (model, rows, model.order)
        return last

    @property
    def model(self) -> Model:
        return self._now()[0]

    @property
    def order(self) -> dict[str, Any] | None:
        order = self._now()[2]
        return None if order is None else json.loads(order)

    def __getstate__(self) -> dict[str, Any]:
        model, rows, order = self._now()
        learner = None if self.learner is None else self.learner.save()
        return dict(options=self.options, model=model.to_bytes(), rows=rows, order=order, learner=learner)

    def __setstate__(self, state: dict[str, Any]) -> None:
        learner = None if state["learner"] is None else Learner.load(state["options"], state["learner"])
        # If another thread learned between both, the numbers of rows differ, and the model is written out anew.
        self.__init__(learner, state["options"], Model.from_bytes(state["model"]), state["order"], state["rows"])  # type: ignore[misc]


def _go_on(run: _Run) -> Learner:
    if run.learner is None:
        raise ValueError(
            "This model cannot be learned further: it came from a file without state (save it with_state=True, or by rooco fit --with-state), from "
            "an algorithm whose T rows are over, or it is an optimum (to_optimum). Start a new one, or use partial_fit from the first row."
        )
    return run.learner
