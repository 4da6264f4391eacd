"""Rows that wait on disk: nothing is left of a run that is over, and nothing is written over that a saved run needs."""

import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from rooco import OnePassRegressor


def estimator(folder):
    how = dict(algorithm="reservoir-sgd", horizon=3000, domain="ball:20", lambda_=0.5, beta=30.0)
    return OnePassRegressor(**how, reservoir=f"disk:{folder}")


def test_nothing_is_left_of_a_run_that_is_over(tmp_path, regression):
    x, y, _ = regression
    model = estimator(tmp_path / "rows").fit(x, y)
    model.save(tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]
    # Half a run that nobody saved.
    half = estimator(tmp_path / "rows").partial_fit(x[:1000], y[:1000])
    assert os.listdir(tmp_path / "rows")
    with pytest.raises(OSError, match="another run keeps its waiting rows there"):
        estimator(tmp_path / "rows").partial_fit(x, y)
    del half
    gc.collect()
    assert os.listdir(tmp_path) == ["m"]


def test_a_saved_run_keeps_its_rows(tmp_path, regression):
    x, y, _ = regression
    whole = estimator(tmp_path / "other").fit(x, y)
    saved = pickle.dumps(estimator(tmp_path / "rows").partial_fit(x[:1000], y[:1000]))
    gc.collect()
    with pytest.raises(OSError, match="rows wait there for a run that was saved or killed"):
        estimator(tmp_path / "rows").fit(x, y)
    went_on = pickle.loads(saved).partial_fit(x[1000:], y[1000:])
    assert went_on.model_.to_bytes() == whole.model_.to_bytes()


def test_what_a_killed_interpreter_leaves_is_named(tmp_path, regression):
    x, y, _ = regression
    np.savez(tmp_path / "d.npz", x=x[:1000], y=y[:1000])
    code = (
        "import os, sys, numpy as np, pickle; sys.path.insert(0, sys.argv[2]); from test_disk import estimator\n"
        "d = np.load(sys.argv[1] + '/d.npz'); m = estimator(sys.argv[1] + '/rows').partial_fit(d['x'], d['y'])\n"
        "if sys.argv[3] == 'rows': pickle.dumps(m)  # brings them to the disk\n"
        "os.kill(os.getpid(), 9)"
    )
    for what in ("none", "rows"):
        done = subprocess.run([sys.executable, "-c", code, tmp_path, os.path.dirname(__file__), what])
        assert done.returncode == -9
        if what == "none":
            # Its rows were all in memory: there is nothing to keep, and the next run takes the folder over.
            estimator(tmp_path / "rows").fit(x, y)
            assert not (tmp_path / "rows").exists()
        else:
            with pytest.raises(OSError, match=r"rows.*saved or killed.*delete this one"):
                estimator(tmp_path / "rows").fit(x, y)
