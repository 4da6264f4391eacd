"""One estimator, several threads: they take turns, nobody is turned away, no row is lost."""

import pickle
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rooco
from rooco import OnePassClassifier, OnePassRegressor


def run_all(*works):
    """Each in a thread of its own, begun at the same moment; the first exception is raised here."""
    gate, failed = threading.Barrier(len(works)), []

    def one(work):
        try:
            gate.wait()
            work()
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=one, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert not any(thread.is_alive() for thread in threads), "threads that wait for each other"
    if failed:
        raise failed[0]


@pytest.fixture
def files(tmp_path, regression):
    x, y, _ = regression
    frame = pd.DataFrame(np.c_[x, y], columns=list("abcdy"))
    frame.to_csv(tmp_path / "first.csv", index=False)
    pd.concat([frame] * 40).to_csv(tmp_path / "more.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("look", ["predict", "coef_", "pickle", "save"])
def test_a_look_from_another_thread_waits_for_the_rows(files, regression, look):
    """It begins in the middle of a batch, so what it sees is the model after that batch."""
    x = pd.DataFrame(regression[0], columns=list("abcd"))
    model = OnePassRegressor(features="linear").fit_file(files / "first.csv", target="y")
    seen = {}

    def other():
        try:
            if look == "predict":
                seen["rows"] = model.predict(x)
            elif look == "coef_":
                seen["rows"] = model.coef_
            elif look == "pickle":
                seen["rows"] = pickle.loads(pickle.dumps(model)).coef_
            else:
                model.save(files / "m", with_state=True)
                seen["rows"] = rooco.load(files / "m").coef_
        except BaseException as e:
            seen["rows"] = e

    thread = threading.Thread(target=other)

    def progress(*_):
        if not thread.ident:
            thread.start()
        time.sleep(0)  # Lets the other thread have the interpreter; nothing depends on whether it takes it.

    model.partial_fit_file(files / "more.csv", progress=progress)
    thread.join()
    now = model.predict(x) if look == "predict" else model.coef_
    assert isinstance(seen["rows"], np.ndarray), repr(seen["rows"])
    assert np.array_equal(seen["rows"], now) and model.report_["rows"] == 41 * len(x)


def test_a_callback_cannot_wait_for_itself(files):
    model = OnePassRegressor().fit_file(files / "first.csv", target="y")

    def progress(*_):
        model.model_

    with pytest.raises(RuntimeError, match="in the middle of its rows"):
        model.partial_fit_file(files / "more.csv", progress=progress)
    # Its turn is over: everybody may look again.
    run_all(lambda: model.model_, lambda: model.model_)


def test_no_row_is_lost_between_threads(regression):
    x, y, _ = regression
    model = OnePassRegressor(features="linear").partial_fit(x[:1], y[:1])

    def learn():
        for t in range(0, 2000, 5):
            model.partial_fit(x[t : t + 5], y[t : t + 5])
        model.partial_fit(x[2000:], y[2000:])

    def look():
        for _ in range(20):
            assert np.isfinite(model.predict(x[:7])).all()
            copy = pickle.loads(pickle.dumps(model))
            # The copy's model is that of the copy's rows, also if rows came between the two parts of a pickle.
            assert copy.report_["rows"] == copy._run.learner.rows

    run_all(learn, look, learn, look, learn)
    assert model.report_["rows"] == 1 + 3 * len(x)


def test_threads_that_begin_together_begin_one_run(regression, labels):
    x, y, _ = regression
    for _ in range(4):
        model, other = OnePassRegressor(features="linear"), OnePassClassifier(features="linear")
        parts = [slice(300 * t, 300 * (t + 1)) for t in range(6)]
        run_all(*[lambda p=p: model.partial_fit(x[p], y[p]) for p in parts])
        run_all(*[lambda p=p: other.partial_fit(x[p], labels[p], classes=[0, 1]) for p in parts])
        assert (model.report_["rows"], other.report_["rows"]) == (1800, 1800)


class Slow:
    """A table whose last batch comes when it is let go."""

    def __init__(self, frame):
        self.frame, self.asked, self.go = pa.Table.from_pandas(frame, preserve_index=False), threading.Event(), threading.Event()

    def __arrow_c_stream__(self, requested_schema=None):
        def batches():
            yield from self.frame.slice(0, len(self.frame) - 10).to_batches()
            self.asked.set()
            assert self.go.wait(600)
            yield from self.frame.slice(len(self.frame) - 10).to_batches()

        return pa.RecordBatchReader.from_batches(self.frame.schema, batches()).__arrow_c_stream__(requested_schema)


def test_rows_for_the_run_before_do_not_bring_it_back(regression):
    """``partial_fit`` is in the middle of its rows when another thread calls ``fit``: that is a new run, and it stays."""
    x, y, _ = regression
    frame = pd.DataFrame(x, columns=list("abcd"))
    model = OnePassRegressor(features="linear").fit(frame[:500], y[:500])
    slow = Slow(frame[500:900])
    thread = threading.Thread(target=model.partial_fit, args=(slow, y[500:900]))
    thread.start()
    assert slow.asked.wait(600)
    model.fit(frame[:700], y[:700])
    slow.go.set()
    thread.join()
    expected = OnePassRegressor(features="linear").fit(frame[:700], y[:700])
    assert model.report_["rows"] == 700 and np.array_equal(model.coef_, expected.coef_)
    # Who comes later goes on with the new run.
    assert model.partial_fit(frame[700:750], y[700:750]).report_["rows"] == 750


@pytest.mark.parametrize("whole", [True, False])
def test_fit_and_a_first_partial_fit_take_turns(regression, whole):
    """Whichever begins, the other comes after it: all rows of both, or those of ``fit`` alone."""
    x, y, _ = regression
    frame = pd.DataFrame(x, columns=list("abcd"))
    model = OnePassRegressor(features="linear")
    slow = Slow(frame[:400])
    calls = [model.fit, model.partial_fit] if whole else [model.partial_fit, model.fit]
    first = threading.Thread(target=calls[0], args=(slow, y[:400]))
    first.start()
    assert slow.asked.wait(600)
    second = threading.Thread(target=calls[1], args=(frame[400:700], y[400:700]))
    second.start()
    second.join(0.5)  # Time to do it wrong; if it waits, as it should, nothing depends on how long.
    slow.go.set()
    first.join()
    second.join()
    assert model.report_["rows"] == (700 if whole else 300)
