"""Wrong input: an error in scikit-learn's manner that says what to do, and nothing learned."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from rooco import Model, OnePassClassifier, OnePassRegressor, load


def test_shapes(regression):
    x, y, weight = regression
    model = OnePassRegressor()
    for bad in [(x, y[:-1]), (x[:, :, None], y), (x[0], y)]:
        with pytest.raises(ValueError):
            model.fit(*bad)
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(x, y, weight[:-1])
    model.fit(x, y)
    with pytest.raises(ValueError, match="X has 3 features, but OnePassRegressor is expecting 4 features"):
        model.predict(x[:, :3])
    with pytest.raises(ValueError, match="X has 5 features"):
        model.partial_fit(np.ones((1, 5)), [1.0])
    with pytest.raises(ValueError, match="has 2999 entries where 3000|3000 entries where 2999"):
        model.fit(pl.DataFrame(x), y[:-1])


@pytest.mark.parametrize("value, word", [(np.nan, "NaN"), (np.inf, "infinity")])
def test_numbers_that_are_not_finite(regression, value, word):
    x, y, _ = regression
    bad = x.copy()
    bad[17, 2] = value
    with pytest.raises(ValueError, match=f"contains {word} in row 18, column x2"):
        OnePassRegressor().fit(bad, y)
    with pytest.raises(ValueError, match="row 18, column c|:18:3: column `c`"):
        OnePassRegressor().fit(pd.DataFrame(bad, columns=list("abcd")), y)
    with pytest.raises(ValueError, match="18:3: column `c`"):
        OnePassRegressor().fit(pl.DataFrame(bad, schema=list("abcd")), y)
    # A batch is learned whole or not at all, also the quick way.
    model = OnePassRegressor().partial_fit(x[:10], y[:10])
    before = model.model_.to_bytes()
    for n in (1, 100, 1000):
        with pytest.raises(ValueError, match="Nothing was learned"):
            model.partial_fit(bad[18 - n if n == 1 else 0 :][:n], y[:n])
        assert model.model_.to_bytes() == before
    with pytest.raises(ValueError, match="NaN|infinity"):
        model.partial_fit(x[:1], np.array([value]))
    assert model.model_.to_bytes() == before


def test_text_says_how_to_encode_it(regression):
    x, y, _ = regression
    frame = pd.DataFrame(x, columns=list("abcd")).assign(e="word")
    with pytest.raises(ValueError, match="(?s)could not convert string to float.*OneHotEncoder"):
        OnePassRegressor().fit(frame.to_numpy(), y)
    # Frames say which columns are text.
    for table in (frame, pl.from_pandas(frame)):
        assert OnePassRegressor(features="linear").fit(table, y).coef_names_ == [*"abcd", "e=word"]


def test_classes(regression, labels):
    x, y, _ = regression
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        OnePassClassifier().fit(x, np.ones(len(x)))
    with pytest.raises(ValueError, match="Unknown label type"):
        OnePassClassifier().fit(x, y)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        OnePassClassifier().partial_fit(x, labels)
    model = OnePassClassifier().partial_fit(x, labels, classes=[0, 1])
    before = model.model_.to_bytes()
    with pytest.raises(ValueError, match="not one of the classes.*name all classes in the first call"):
        model.partial_fit(x[:2], [1, 2])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(x, labels, classes=[0, 1, 2])
    assert model.model_.to_bytes() == before
    with pytest.raises(ValueError, match="two classes"):
        OnePassClassifier(loss="squared-hinge").fit(x, np.digitize(y, [0, 3]))
    with pytest.raises(AttributeError, match="predict_proba"):
        OnePassClassifier(loss="squared-hinge").fit(x, labels).predict_proba


def test_weights(regression):
    x, y, _ = regression
    with pytest.raises(ValueError, match="total must be positive.*check their signs"):
        OnePassRegressor().fit(x, y, -np.ones(len(x)))
    with pytest.raises(ValueError, match="at least one non-zero"):
        OnePassRegressor().fit(x, y, np.zeros(len(x)))


@pytest.mark.parametrize(
    "parameters, message",
    [
        (dict(algorithm="newton"), "there is no algorithm `newton`; choose one of"),
        (dict(loss="cubic"), "there is no loss `cubic`"),
        (dict(loss="logistic"), "predicts classes, but the target is a number"),
        (dict(domain="cube:3", algorithm="sgd"), "ball:R"),
        (dict(l2=-1.0), "l2 = -1"),
        (dict(missing="guess"), "missing must be"),
        (dict(holdout=1.0), "below 1"),
        (dict(random_state=-1), "random_state"),
        (dict(algorithm="reservoir-sgd", reservoir="ram"), "memory, disk:DIR or sample:M"),
        (dict(algorithm="reservoir-sgd", lambda_=1.0, beta=1e9), "needs T > β/λ"),
    ],
)
def test_parameters_are_checked_in_fit(regression, parameters, message):
    x, y, _ = regression
    with pytest.raises(ValueError, match=message):
        OnePassRegressor(**parameters).fit(x, y)


def test_files(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        load(tmp_path / "nowhere.safetensors")
    (tmp_path / "bad").write_bytes(b"hello")
    with pytest.raises(ValueError, match="not a usable rooco file"):
        load(tmp_path / "bad")
    with pytest.raises(ValueError, match="damaged"):
        Model.from_bytes(b"hello")
    (tmp_path / "t.csv").write_text("a,y\n1,2\n3,x\n")
    with pytest.raises(ValueError, match=r"t\.csv:3"):
        OnePassRegressor().fit_file(tmp_path / "t.csv", target="y")
    with pytest.raises(ValueError, match="did you mean"):
        OnePassRegressor().fit_file(tmp_path / "t.csv", target="Y")
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        OnePassRegressor().fit_stream([1, 2], target="y")


LIMIT = 600  # seconds; only a test that fails waits so long


class Onlooker(threading.Thread):
    """Watches the main thread from another one; calls `seen` once, in the middle of a pass.

    In the middle: the main thread has spent processor time within one compiled call, and this thread, which needs the
    interpreter to look, has run meanwhile. Nothing here depends on how busy the machine is.
    """

    def __init__(self, seen=lambda: None):
        super().__init__(daemon=True)
        self.main = threading.main_thread().ident
        self.clock = time.pthread_getcpuclockid(self.main)
        self.seen, self.passes, self.found, self.over = seen, 0, threading.Event(), threading.Event()

    def main_cpu(self):
        return time.clock_gettime(self.clock)

    def run(self):
        here = since = None
        while not self.over.is_set():
            frame = sys._current_frames()[self.main]
            now = (self.passes, id(frame), frame.f_lasti) if frame.f_code.co_name == "_whole_run" else None
            if now is None or now != here:
                here, since = now, self.main_cpu()
            elif self.main_cpu() > since + 0.005:
                self.seen()
                self.found.set()
                return
            self.over.wait(0.001)

    def watch(self, work):
        """Works again and again until the onlooker has seen it."""
        self.start()
        started = time.monotonic()
        try:
            while not self.found.is_set():
                self.passes += 1
                work()
                assert time.monotonic() - started < LIMIT, "no other thread could run during a pass"
        finally:
            self.over.set()
            self.join()


def test_ctrl_c_stops_a_pass_and_leaves_the_estimator(regression):
    x, y, _ = regression
    model = OnePassRegressor().fit(x, y)
    x, y = np.tile(x, (700, 1)), np.tile(y, 700)
    sent = []

    def interrupt():
        sent.append(onlooker.main_cpu())
        os.kill(os.getpid(), signal.SIGINT)

    onlooker = Onlooker(interrupt)
    started = onlooker.main_cpu()
    OnePassRegressor().fit(x, y)
    whole = onlooker.main_cpu() - started
    before = model.model_.to_bytes()
    # A shell starts its background jobs deaf to Ctrl-C; the test must not depend on who started it.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            onlooker.watch(lambda: model.fit(x, y))
        after = onlooker.main_cpu() - sent[0]
    finally:
        signal.signal(signal.SIGINT, handler)
    assert after < 0.25 * whole, f"{after:.3f} s of work after Ctrl-C; a pass takes {whole:.3f} s"
    assert model.n_features_in_ == 4
    assert model.model_.to_bytes() == before or model.report_["rows"] == len(x)


def test_a_callback_that_raises_stops_the_pass(tmp_path, regression):
    x, y, _ = regression
    pd.DataFrame(np.c_[x, y]).to_csv(tmp_path / "d.csv", index=False)

    def stop(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        OnePassRegressor().fit_file(tmp_path / "d.csv", target="4", progress=stop)


def test_other_threads_run_during_a_pass(regression):
    x, y, _ = regression
    x, y = np.tile(x, (300, 1)), np.tile(y, 300)
    Onlooker().watch(lambda: OnePassRegressor().fit(x, y))


@pytest.mark.parametrize("break_it", ["index", "negative", "short", "back", "beyond"])
def test_a_broken_csr_matrix_is_an_error(break_it):
    """Also one that points outside its own arrays, which scipy would follow."""
    X = sp.random(50, 5, 0.5, format="csr", random_state=1)
    if break_it == "index":
        X.indices[3] = 99
    elif break_it == "negative":
        X.indices[3] = -1
    elif break_it == "short":
        X.data = X.data[:5]
    elif break_it == "back":
        X.indptr[10] = 0
    else:
        X.indptr[10] = 10**6
    with pytest.raises(ValueError):
        OnePassRegressor().fit(X, np.arange(50.0))
