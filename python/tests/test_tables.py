"""Frames and files as people have them: text, dates, ids, odd values; going on from a saved model; counts and quantiles."""

import pickle
import warnings

import numpy as np
import pytest

import rooco
from rooco import OnePassClassifier, OnePassRegressor

pl = pytest.importorskip("polars")


def rows(n=3000, seed=1):
    r = np.random.default_rng(seed)
    a, b, c = r.normal(size=n), r.normal(size=n), r.choice(["red", "green", "blue"], size=n)
    y = 2 * a - b + (c == "red") + 0.3 * r.normal(size=n)
    return a, b, c, y


def frame(n=3000):
    a, b, c, y = rows(n)
    day = np.datetime64("2024-01-01") + (np.arange(n) * 7 % 365).astype("timedelta64[D]")
    return pl.DataFrame({"id": [f"u{k * 7919:x}" for k in range(n)], "day": day, "a": a, "b": b, "c": c}), y


@pytest.mark.parametrize("make", ["polars", "lazy", "pandas"])
def test_frames_with_text_dates_and_ids(make):
    table, y = frame()
    if make == "lazy":
        table = table.lazy()
    if make == "pandas":
        pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        table = table.to_pandas()
    model = OnePassRegressor(features="linear").fit(table, y)
    names = model.coef_names_
    assert {"a", "b", "c=red", "day.month=01", "day.weekday=Monday"} <= set(names)
    assert not any(name.startswith("id") for name in names)
    assert 1 - np.mean((model.predict(table) - y) ** 2) / np.var(y) > 0.95


def test_numbers_of_a_frame_stay_numbers():
    a, b, _, y = rows()
    code = np.arange(len(a)) % 5
    model = OnePassRegressor(features="linear").fit(pl.DataFrame({"a": a, "b": b, "code": code}), y)
    assert model.coef_names_ == ["a", "b", "code"]
    same = OnePassRegressor(features="linear").fit(np.column_stack([a, b, code]), y)
    assert np.array_equal(model.coef_, same.coef_)


def write(path, a, b, c, y, odd=False):
    lines = ["y,a,b,c"] + [f"{y[k]:.6f},{'unknown' if odd and k == 3 else f'{a[k]:.6f}'},{b[k]:.6f},{c[k]}" for k in range(len(a))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_files_have_the_roles_of_the_command(tmp_path, program):
    path = write(tmp_path / "t.csv", *rows(), odd=True)
    model = OnePassRegressor(features="linear").fit_file(path, target="y")
    program("fit", path, "--target", "y", "-m", tmp_path / "m", "--features", "linear", "--quiet")
    theirs = rooco.load(tmp_path / "m")
    assert model.coef_names_ == theirs.coef_names_ == ["a", "b", *[n for n in model.coef_names_ if n.startswith("c=")]]
    assert np.array_equal(model.coef_, theirs.coef_)
    schema = tmp_path / "s.toml"
    schema.write_text('target = "y"\n[columns]\nb = "drop"\n')
    assert "b" not in OnePassRegressor(features="linear").fit_file(path, schema=schema).coef_names_


def test_late_classes_and_the_positive_one(tmp_path):
    a, b, _, y = rows(2500)
    lines = ["y,a,b"] + [f"{'fraud' if k >= 2400 else 'fine'},{a[k]},{b[k]}" for k in range(2500)]
    path = tmp_path / "late.csv"
    path.write_text("\n".join(lines) + "\n")
    assert list(OnePassClassifier().fit_file(path, target="y").classes_) == ["fine", "fraud"]
    assert list(OnePassClassifier().fit_file(path, target="y", classes=["fraud", "fine"]).classes_) == ["fraud", "fine"]
    assert list(OnePassClassifier().fit_file(path, target="y", positive="fine").classes_)[1] == "fine"


def test_learning_goes_on_from_a_file(tmp_path, program):
    a, b, c, y = rows(4000)
    x = np.column_stack([a, b])
    half = OnePassRegressor(features="linear").fit(x[:2000], y[:2000])
    half.save(tmp_path / "m", with_state=True)
    more = rooco.load(tmp_path / "m").partial_fit(x[2000:], y[2000:])
    whole = OnePassRegressor(features="linear").fit(x, y)
    assert np.array_equal(more.coef_, whole.coef_) and more.progressive_loss_ == whole.progressive_loss_
    again = pickle.loads(pickle.dumps(rooco.load(tmp_path / "m"))).partial_fit(x[2000:], y[2000:])
    assert np.array_equal(again.coef_, whole.coef_)
    # A file that the command has begun, with categories.
    one = write(tmp_path / "one.csv", a[:2000], b[:2000], c[:2000], y[:2000])
    two = write(tmp_path / "two.csv", a[2000:], b[2000:], c[2000:], y[2000:])
    program("fit", one, "--target", "y", "-m", tmp_path / "n", "--with-state", "--features", "linear", "--quiet")
    model = rooco.load(tmp_path / "n").partial_fit_file(two)
    both = OnePassRegressor(features="linear").fit_file([one, two], target="y")
    assert np.array_equal(model.coef_, both.coef_)
    half.save(tmp_path / "bare")
    with pytest.raises(ValueError, match="with_state=True"):
        rooco.load(tmp_path / "bare").partial_fit(x, y)


def test_counts_and_quantiles():
    r = np.random.default_rng(3)
    x = r.normal(size=(8000, 2))
    mean = np.exp(1 + 0.5 * x[:, 0] - 0.3 * x[:, 1])
    model = OnePassRegressor(loss="poisson", features="linear").fit(x, r.poisson(mean).astype(float))
    assert np.allclose(model.coef_, [0.5, -0.3], atol=0.06)
    assert abs(np.mean(model.predict(x)) / np.mean(mean) - 1) < 0.05
    y = 100 + 10 * x[:, 0] + 5 * r.normal(size=8000)
    above = OnePassRegressor(loss="quantile:0.9").fit(x, y)
    assert abs(np.mean(y < above.predict(x)) - 0.9) < 0.03
    with pytest.raises(ValueError, match="at least 0"):
        OnePassRegressor(loss="poisson").fit(x, y - 100)


def test_notebooks_see_the_model():
    a, b, _, y = rows()
    shown = OnePassRegressor(holdout=0.2, features="linear").fit(np.column_stack([a, b]), y)._repr_html_()
    assert "progressive loss" in shown and "x0" in shown and "held-out rows" in shown and "<script" not in shown
    assert "OnePassRegressor" in OnePassRegressor()._repr_html_()


@pytest.mark.parametrize("how", ["fit", "fit_stream", "fit_file"])
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_every_fit_warns_of_rows_that_are_not_in_random_order(how, order, tmp_path):
    a, b, _, y = rows(4000)
    k = np.argsort(y) if order == "sorted" else np.arange(len(y))
    table = pl.DataFrame({"y": y[k], "a": a[k], "b": b[k]})
    table.write_csv(tmp_path / "t.csv")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = OnePassRegressor(features="linear")
        if how == "fit":
            model.fit(np.column_stack([a, b])[k], y[k])
        elif how == "fit_stream":
            model.fit_stream(table, target="y")
        else:
            model.fit_file(tmp_path / "t.csv", target="y")
    said = [w for w in caught if "not in random order" in str(w.message)]
    assert len(said) == (order == "sorted")
    for w in said:
        assert f"shuffle the rows before {how}, or with rooco.shuffle" in str(w.message)
        # It points at the line that called.
        assert w.filename == __file__
