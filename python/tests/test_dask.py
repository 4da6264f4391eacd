"""rooco.dask on a cluster of worker processes on loopback: the same answers as on one machine, whatever the workers do and when they die."""

import contextlib
import json
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

import rooco  # noqa: E402
import rooco.dask as rd  # noqa: E402
from rooco.dask._parts import _files  # noqa: E402
from rooco import OnePassClassifier, OnePassRegressor  # noqa: E402


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with rd.local(workers=2, memory="1GiB", folder=tmp_path_factory.mktemp("workers")) as c:
        yield c


def table(n, seed, two=False, signed=False):
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, 3)) * [1, 10, 0.1]
    # A category that the first rows do not show.
    kind = np.where(np.arange(n) > n // 2, r.choice(["a", "b", "late"], n), r.choice(["a", "b"], n))
    score = x @ [1, 0.1, -5] + (kind == "b") + r.normal(size=n)
    y = np.where(score > 0, "yes", "no") if two else score
    w = np.where(r.random(n) < 0.2, -0.5, 1.0) if signed else np.ones(n)
    return pa.table({"y": y, "u": x[:, 0], "v": x[:, 1], "s": x[:, 2], "kind": kind, "w": w})


def parts(folder, t, k):
    """The rows in k files, one after the other."""
    for j in range(k):
        lo, hi = j * t.num_rows // k, (j + 1) * t.num_rows // k
        pq.write_table(t.slice(lo, hi - lo), folder / f"part-{j}.parquet")
    return str(folder / "part-*.parquet")


def read(pattern):
    return pa.concat_tables([pq.read_table(p) for p in sorted(_files(pattern))])


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_the_optimum_and_its_certificate_are_those_of_one_machine(client, tmp_path, two, signed):
    t = table(4000, 1, two, signed)
    files = parts(tmp_path, t, 5)
    kind = OnePassClassifier if two else OnePassRegressor
    how = dict(l2=0.01, to_optimum=1e-12, features="linear")
    one = kind(**how).fit_file(files, target="y", weight="w")
    many = rd.fit(kind(**how), files, target="y", weight="w", client=client)
    assert many.model_.names() == one.model_.names() and "kind=late" in many.model_.names()
    np.testing.assert_allclose(many.coef_, one.coef_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(many.coef_std_, one.coef_std_, rtol=1e-6)
    assert many.optimum_["converged"] and abs(many.optimum_["value"] - one.optimum_["value"]) < 1e-9
    assert many.report_["checksum"] == one.report_["checksum"] and many.report_["rows"] == 4000
    mine, theirs = many.certificate_, rd.certify(one, files, client=client)
    assert abs(mine["gap"] - theirs["gap"]) < 1e-9 and mine["against"] == theirs["against"]
    # The certificate of one machine for the model that several found.
    assert abs(mine["gap"] - (one.optimum_["gap"] or np.inf)) < 1e-9
    if two:
        assert (rd.predict(many, files, client=client) == many.predict_file(files)).all()
    else:
        np.testing.assert_array_equal(rd.predict(many, files, client=client), many.predict_file(files))


def test_audit_and_order_are_those_of_one_machine(client, tmp_path):
    t = table(3000, 2, signed=True)
    files = parts(tmp_path, t, 4)
    how = dict(target="y", weight="w", loss="squared", l2=0.1, domain="ball:10")
    one, many = rooco.audit(_files(files), **how), rd.audit(files, client=client, **how)
    for key in ("rows", "negative_rows", "coordinates", "g", "beta", "max_x", "max_y", "max_weight", "convex"):
        assert one[key] == many[key], key
    numbers = lambda a: {k: v for k, v in a.items() if isinstance(v, float)}  # noqa: E731
    assert numbers(one) and numbers(one).keys() == numbers(many).keys()
    for key, value in numbers(one).items():
        assert many[key] == pytest.approx(value, rel=1e-12), key
    assert one["order"] == many["order"]
    ordered = t.sort_by("y")
    sorted_files = parts(tmp_path, ordered, 4)
    found = rd.order_test(sorted_files, target="y", weight="w", loss="squared", client=client)
    assert found["random"] is False and found["row"] == rooco.audit(_files(sorted_files), **how)["order"]["row"]


def test_parts_that_were_not_convex_have_a_guarantee_together(client, tmp_path):
    """One shard holds most of the negative rows: its own sum falls without end, the sum of all does not."""
    r = np.random.default_rng(3)
    n = 2000
    x, w = r.normal(size=(n, 2)), np.ones(n)
    w[: n // 4] = np.where(r.random(n // 4) < 0.7, -1.0, 1.0)
    y = x @ [1.0, -1.0] + 0.1 * r.normal(size=n)
    t = pa.table({"y": y, "a": x[:, 0], "b": x[:, 1], "w": w})
    files = parts(tmp_path, t, 4)
    est = lambda: OnePassRegressor(domain="ball:4", features="linear", l2=0.05)  # noqa: E731
    shard = rooco.audit(str(tmp_path / "part-0.parquet"), target="y", weight="w", loss="squared", l2=0.05, domain="ball:4")
    assert shard["convex"] is False and shard["convexity_is_certain"]
    many = rd.fit(est(), files, target="y", weight="w", guarantee=True, certify=True, client=client)
    bound = many.report_["workers"]["bound"]
    assert "Theorem 12" in many.guarantee_ and 0 < bound < np.inf
    # A deal that is not random: the bound speaks of random ones, and even here the mean of the models is within it.
    assert many.certificate_["value"] - many.certificate_["lower_bound"] <= bound
    again = rd.fit(est(), files, target="y", weight="w", guarantee=True, client=client)
    assert again.model_.to_bytes() == many.model_.to_bytes()
    with pytest.raises(ValueError, match="Theorem 12 promises nothing"):
        rd.fit(OnePassRegressor(features="linear"), files, target="y", weight="w", guarantee=True, client=client)


def test_arrays_and_frames(client, tmp_path):
    r = np.random.default_rng(4)
    x = r.normal(size=(3000, 3))
    y = np.where(x @ [1, 2, -1] + r.normal(size=3000) > 0, "up", "down")
    X, Y = da.from_array(x, chunks=(1000, 2)), da.from_array(y, chunks=1000)
    many = OnePassClassifier(to_optimum=True, l2=1e-3).fit(X, Y)
    one = OnePassClassifier(to_optimum=True, l2=1e-3).fit(x, y)
    np.testing.assert_allclose(many.coef_, one.coef_, rtol=1e-6)
    assert (many.predict(x) == one.predict(x)).mean() > 0.999 and list(many.classes_) == ["down", "up"]
    with pytest.warns(UserWarning, match="linear in its columns, without curves and pairs"):
        mean = OnePassClassifier().fit(X, Y)
    assert mean.score(x, y) > one.score(x, y) - 0.02 and mean.report_["workers"]["parts"] == 3
    t = table(2000, 5)
    frame = dd.from_map(lambda k: t.slice(k * 2000 // 3, (k + 1) * 2000 // 3 - k * 2000 // 3).to_pandas(), range(3))
    files = parts(tmp_path, t, 3)
    by_frame = rd.fit(OnePassRegressor(), frame, target="y", drop=["w"], client=client)
    by_file = rd.fit(OnePassRegressor(), files, target="y", drop=["w"], client=client)
    np.testing.assert_allclose(by_frame.coef_, by_file.coef_, rtol=1e-12)
    numbers = frame[["u", "v", "s"]]
    named = OnePassRegressor(loss="squared").fit(numbers, frame["y"])
    assert named.model_.names()[1:] == ["u", "v", "s"] and list(named.feature_names_in_) == ["u", "v", "s"]
    with pytest.raises(TypeError, match="'c' holds no numbers: .* put y into the frame"):
        OnePassRegressor().fit(numbers.assign(c="red"), frame["y"])
    with pytest.raises(ValueError, match="holdout is for one machine"):
        rd.fit(OnePassRegressor(holdout=0.1), files, target="y", client=client)
    with pytest.raises(ValueError, match="linear in its columns"):
        rd.fit(OnePassRegressor(features="shapes"), files, target="y", client=client)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        rd.fit(OnePassRegressor(), str(tmp_path / "nothing-*.parquet"), target="y", client=client)


def test_predictions_are_those_of_one_machine(client, tmp_path):
    """Scores that are no probabilities, rows outside the range, and files of predictions."""
    t = table(2000, 12, two=True)
    files = parts(tmp_path, t, 3)
    far = t.set_column(1, "u", pa.array(100.0 * t["u"].to_numpy()))
    (tmp_path / "far").mkdir()
    parts(tmp_path / "far", far, 2)
    for loss in ("squared-hinge", "logistic"):
        m = rd.fit(OnePassClassifier(loss=loss), files, target="y", drop=["w"], client=client)
        assert (rd.predict(m, files, client=client) == m.predict_file(files)).all(), loss
        for clamp in (True, False):
            m.clamp = clamp
            with pytest.warns(UserWarning, match="outside the range") if clamp else contextlib.nullcontext():
                mine = rd.predict(m, tmp_path / "far", client=client)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert (mine == m.predict_file(_files(tmp_path / "far"))).all(), (loss, clamp)
    assert rd.predict(m, files, proba=True, out=tmp_path / "p", client=client) == 2000
    written = read(tmp_path / "p")
    assert written.column_names == ["p_no", "p_yes"] and np.allclose(written["p_no"].to_numpy() + written["p_yes"].to_numpy(), 1)
    with pytest.raises(ValueError, match="proba=True is for classifiers"):
        rd.predict(rd.fit(OnePassClassifier(loss="squared-hinge"), files, target="y", drop=["w"], client=client), files, proba=True, client=client)


def test_a_sum_without_minimum_is_said(client, tmp_path):
    r = np.random.default_rng(13)
    t = pa.table({"y": r.normal(size=600), "up": r.normal(size=600), "w": np.where(np.arange(600) % 3 == 0, 1.0, -1.0)})
    with pytest.warns(UserWarning, match="no optimum was reached: the sum is not convex"):
        rd.fit(OnePassRegressor(to_optimum=True), parts(tmp_path, t, 3), target="y", weight="w", client=client)


def test_shuffle_is_a_random_order_of_every_row(client, tmp_path):
    n = 20_000
    t = pa.table({"y": np.sort(np.random.default_rng(6).normal(size=n)), "id": np.arange(n), "kind": np.array(["a", "b"])[np.arange(n) % 2]})
    (tmp_path / "in").mkdir()
    parts(tmp_path / "in", t, 3)
    told = []
    how = dict(seed=7, part_bytes=1 << 16)
    rows = rd.shuffle(tmp_path / "in", tmp_path / "a", client=client, progress=lambda done, total: told.append((done, total)), **how)
    assert rows == n and told[-1][0] == told[-1][1]
    out = read(tmp_path / "a")
    assert sorted(out["id"].to_pylist()) == list(range(n)) and len(os.listdir(tmp_path / "a")) > 3
    assert not rd.order_test(str(tmp_path / "in"), target="y", client=client)["random"]
    assert rd.order_test(str(tmp_path / "a"), target="y", client=client)["random"] is not False
    # Every place is equally likely: a linear trend over places would show here; five standard errors.
    at = np.argsort(out["id"].to_numpy())
    assert abs(np.corrcoef(at, np.arange(n))[0, 1]) < 5 / np.sqrt(n)
    # The same bytes with three workers, and from CSV the same order.
    with rd.local(workers=3, memory="1GiB") as three:
        rd.shuffle(tmp_path / "in", tmp_path / "b", client=three, **how)
    same = lambda a, b: all((tmp_path / a / f).read_bytes() == (tmp_path / b / f).read_bytes() for f in os.listdir(tmp_path / a))  # noqa: E731
    assert same("a", "b") and sorted(os.listdir(tmp_path / "a")) == sorted(os.listdir(tmp_path / "b"))
    rd.shuffle(tmp_path / "in", tmp_path / "c", client=client, seed=8, part_bytes=1 << 16)
    assert not same("a", "c")
    with pytest.raises(FileExistsError, match="not empty"):
        rd.shuffle(tmp_path / "in", tmp_path / "a", client=client)
    assert not [f for f in os.listdir(tmp_path) if f.startswith(".rooco-shuffle")]


def test_a_cancelled_shuffle_leaves_nothing(client, tmp_path):
    t = table(20_000, 8)
    (tmp_path / "in").mkdir()
    parts(tmp_path / "in", t, 4)

    def stop(done, total):
        if done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rd.shuffle(tmp_path / "in", tmp_path / "out", part_bytes=1 << 16, client=client, progress=stop)
    client.restart()  # tasks that were under way are over now, and left nothing
    assert os.listdir(tmp_path / "out") == [] and sorted(os.listdir(tmp_path)) == ["in", "out"]




def experiment(folder):
    (folder / "small.toml").write_text(
        """
name = "small"
about = "a few cells"
seed = 5
t = [500, 2000]
orders = [16, 16]
problems = ["p1 kappa=10", "p3 kappa=20"]
algorithms = ["reservoir-sgd", "sgd", "auto"]
"""
    )
    return folder / "small.toml"


def test_lab_gives_the_same_files(client, tmp_path):
    name = experiment(tmp_path)
    rooco.lab.run(name, tmp_path / "one")
    rd.lab(name, tmp_path / "many", client=client)
    for file in ("results.json", "results.csv"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "many" / file).read_bytes()


class Killer:
    """Kills a worker process as soon as it is busy, once."""

    def __init__(self, client):
        self.client, self.killed, self.over = client, None, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.over:
            busy = [address for address, tasks in self.client.processing().items() if tasks]
            if busy:
                pid = self.client.run(os.getpid, workers=[busy[0]], nanny=False)
                self.killed = next(iter(pid.values()))
                os.kill(self.killed, signal.SIGKILL)
                return
            time.sleep(0.005)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()


@pytest.mark.parametrize("job", ["shuffle", "fit", "optimum", "lab"])
def test_a_killed_worker_changes_nothing(tmp_path, job):
    t = table(30_000, 9)
    (tmp_path / "in").mkdir()
    files = parts(tmp_path / "in", t, 6)
    name = experiment(tmp_path)

    def work(folder, client):
        if job == "shuffle":
            rd.shuffle(tmp_path / "in", folder, part_bytes=1 << 17, client=client)
            return [(f, (folder / f).read_bytes()) for f in sorted(os.listdir(folder))]
        if job == "lab":
            rd.lab(name, folder, client=client)
            return (folder / "results.json").read_bytes()
        est = OnePassRegressor(to_optimum=1e-10 if job == "optimum" else None)
        return rd.fit(est, files, target="y", drop=["w"], client=client).model_.to_bytes()

    with rd.local(workers=2, memory="1GiB", folder=tmp_path / "w") as client:
        calm = work(tmp_path / "calm", client)
        with Killer(client) as killer:
            killed = work(tmp_path / "killed", client)
        assert killer.killed is not None
    assert calm == killed


def test_states_add_without_dask(tmp_path):
    import pickle

    t = table(2000, 10)
    pq.write_table(t, tmp_path / "all.parquet")
    files = _files(parts(tmp_path, t, 2))
    est = lambda: OnePassRegressor(to_optimum=1e-12, l2=0.01, features="linear")  # noqa: E731
    # Both parts know all categories: the one that lacks some is the narrower.
    a, b = (est().fit_file(f, target="y", drop=["w"]).model_ for f in files)
    whole = est().fit_file(tmp_path / "all.parquet", target="y", drop=["w"]).model_
    both = pickle.loads(pickle.dumps(a)) + b
    order = [both.names().index(n) for n in whole.names()]
    np.testing.assert_allclose(both.weights()[order], whole.weights(), rtol=1e-9, atol=1e-9)
    window, known = rooco.merge([both], without=[a])
    assert known["kind"] == "exact" and json.loads(window.about())["rows"] == 1000
    order = [window.names().index(n) for n in b.names()]
    np.testing.assert_allclose(window.weights()[order], b.weights(), rtol=1e-8, atol=1e-8)


def test_intervals(tmp_path):
    r = np.random.default_rng(11)
    x = r.normal(size=(4000, 2))
    y = x @ [1.0, 2.0] + r.normal(size=4000)
    m = OnePassRegressor(holdout=0.25).fit(x[:3000], y[:3000])
    p, low, high = m.predict_interval(x[3000:], 0.8)
    held = ((low <= y[3000:]) & (y[3000:] <= high)).mean()
    assert abs(held - 0.8) < 4 * np.sqrt(0.16 * (1 / 1000 + 1 / 750)) and (low < p).all() and (p < high).all()
    with pytest.raises(AttributeError, match="holdout=0.1"):
        OnePassRegressor().fit(x, y).predict_interval(x)
