"""Python and the command line give the same model file, byte for byte, whatever the rows came in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import duckdb
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from rooco import OnePassClassifier, OnePassRegressor, load

NAMES = ["x0", "x1", "x2", "x3"]


def frame(x, y, weight=None):
    table = pd.DataFrame(x, columns=NAMES).assign(y=y)
    return table if weight is None else table.assign(weight=weight)


def by_command(program, folder, table, *options, name="data.csv"):
    """The bytes of the model file that `rooco fit` writes. Missing values are an error, as they are in arrays."""
    path, model = folder / name, folder / "model.safetensors"
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    else:
        table.to_csv(path, index=False)
    weight = ["--weight", "weight"] if "weight" in table else []
    program("fit", path, "--target", "y", *weight, "--model", model, "--missing", "error", "--quiet", *options)
    return model.read_bytes()


RUNS = [
    ({}, []),
    (dict(random_state=5, holdout=0.2), ["--seed", 5, "--holdout", 0.2]),
    (
        dict(algorithm="provable", domain="ball:10", l2=0.01, random_state=3),
        ["--algorithm", "provable", "--domain", "ball:10", "--l2", 0.01, "--seed", 3],
    ),
    (dict(algorithm="reservoir-sgd", lambda_=0.5, beta=30.0), ["--algorithm", "reservoir-sgd", "--lambda", 0.5, "--beta", 30]),
    (dict(loss="huber:0.5"), ["--loss", "huber:0.5"]),
]


@pytest.mark.parametrize("parameters, options", RUNS)
@pytest.mark.parametrize("weighted", [False, True])
def test_arrays(program, tmp_path, regression, parameters, options, weighted):
    x, y, weight = regression
    x = x / [1, 100, 1, 1]
    weight = weight if weighted else None
    expected = by_command(program, tmp_path, frame(x, y, weight), *options, *([] if "loss" in parameters else ["--loss", "squared"]))
    estimator = OnePassRegressor(**({"loss": "squared"} | parameters))
    assert estimator.fit(x, y, weight).model_.to_bytes() == expected


def test_every_layout_of_an_array(tmp_path, regression):
    x, y, weight = regression
    expected = OnePassRegressor().fit(x, y, weight).model_.to_bytes()
    wide = np.zeros((len(x) * 2, 9))
    wide[::2, 1::2] = x
    memmap = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=x.shape)
    memmap[:] = x
    memmap.flush()
    unaligned = np.zeros(len(x), dtype=[("a", "i1"), ("x", "f8", (4,))])
    unaligned["x"] = x
    layouts = {
        "Fortran order": np.asfortranarray(x),
        "strided": wide[::2, 1::2],
        "backwards": x[::-1].copy()[::-1],
        "transposed": np.ascontiguousarray(x.T).T,
        "read-only memmap": np.memmap(tmp_path / "x", dtype=float, mode="r", shape=x.shape),
        "unaligned": unaligned["x"],
        "other byte order": x.astype(">f8"),
        "list": x.tolist(),
        "object": x.astype(object),
    }
    for name, layout in layouts.items():
        assert OnePassRegressor().fit(layout, y, weight).model_.to_bytes() == expected, name
    small = x.astype(np.float32)
    single = OnePassRegressor().fit(small, y).model_.to_bytes()
    assert single == OnePassRegressor().fit(small.astype(float), y).model_.to_bytes()
    assert single == OnePassRegressor().fit(np.asfortranarray(small), y).model_.to_bytes()


def test_classes(program, tmp_path, regression, labels):
    x, y, weight = regression
    for name, target in [("numbers", labels), ("words", np.where(labels, "yes", "no"))]:
        expected = by_command(program, tmp_path, frame(x, target, weight))
        assert OnePassClassifier().fit(x, target, weight).model_.to_bytes() == expected, name
    three = np.digitize(y, [0, 3])
    expected = by_command(program, tmp_path, frame(x, three), "--loss", "softmax")
    assert OnePassClassifier().fit(x, three).model_.to_bytes() == expected
    two = by_command(program, tmp_path, frame(x, labels), "--loss", "softmax")
    assert OnePassClassifier(loss="softmax").fit(x, labels).model_.to_bytes() == two
    noisy = by_command(program, tmp_path, frame(x, labels), "--label-noise", "0.2,0.1")
    assert OnePassClassifier(label_noise=(0.2, 0.1)).fit(x, labels).model_.to_bytes() == noisy


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_array])
def test_sparse(program, tmp_path, labels, index, kind):
    r = np.random.default_rng(3)
    x = sp.random_array((len(labels), 200), density=0.05, rng=r, format="csr")
    path, model = tmp_path / "data.svm", tmp_path / "model.safetensors"
    dump_svmlight_file(x, labels, str(path), zero_based=True)
    # The file is written with 16 digits: learn from what it says.
    x, labels = load_svmlight_file(str(path), zero_based=True)
    x.indices, x.indptr = x.indices.astype(index), x.indptr.astype(index)
    program("fit", path, "--model", model, "--quiet")
    assert OnePassClassifier().fit(kind(x), labels).model_.to_bytes() == model.read_bytes()


def test_tables(program, tmp_path, regression, labels):
    x, _, weight = regression
    table = frame(x, labels, weight)
    expected = by_command(program, tmp_path, table)
    features = table[NAMES]
    batches = pa.Table.from_pandas(table, preserve_index=False).to_batches(max_chunksize=77)
    tables = {
        "pandas": table,
        "polars": pl.from_pandas(table),
        "pyarrow": pa.Table.from_pandas(table, preserve_index=False),
        "batches": pa.RecordBatchReader.from_batches(batches[0].schema, iter(batches)),
        "duckdb": duckdb.from_df(table),
    }
    for name, whole in tables.items():
        model = OnePassClassifier(missing="error").fit_stream(whole, target="y", weight="weight")
        assert model.model_.to_bytes() == expected, name
        assert list(model.classes_) == [0, 1]
    for name, part in [("pandas", features), ("polars", pl.from_pandas(features)), ("pyarrow", pa.Table.from_pandas(features))]:
        model = OnePassClassifier(missing="error").fit(part, labels, weight)
        assert model.model_.to_bytes() == expected, name
        assert list(model.feature_names_in_) == NAMES, name
        assert np.array_equal(model.predict_proba(part), model.predict_proba(features)), name


def test_categories_of_a_table(program, tmp_path, regression, labels):
    x, _, _ = regression
    colours = np.array(["red", "green", "blue"])[np.arange(len(x)) % 3]
    table = pd.DataFrame(x, columns=NAMES).assign(colour=colours, y=labels)
    expected = by_command(program, tmp_path, table)
    model = OnePassClassifier(missing="error").fit_stream(pl.from_pandas(table), target="y")
    assert model.model_.to_bytes() == expected
    assert model.coef_names_ == NAMES + ["colour=red", "colour=green", "colour=blue"]
    assert np.array_equal(model.predict(pl.from_pandas(table)), model.predict(table))


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.parquet"])
def test_files(program, tmp_path, regression, labels, name):
    x, _, weight = regression
    expected = by_command(program, tmp_path, frame(x, labels, weight), name=name)
    assert OnePassClassifier(missing="error").fit_file(tmp_path / name, target="y", weight="weight").model_.to_bytes() == expected
    seen = []
    # Lines start with the first row; curves of signed rows are decided by the first 10,000, and there is no loss before that.
    model = OnePassClassifier(missing="error", features="linear").fit_file(
        tmp_path / name, target="y", weight="weight", progress=lambda rows, done, total, loss: seen.append((rows, done, total, loss))
    )
    rows, done, total, loss = seen[-1]
    assert rows == len(x) and 0 < done <= total and loss == pytest.approx(model.progressive_loss_)
    counted = OnePassClassifier(algorithm="provable", domain="ball:5", holdout=0.1).fit_file(tmp_path / name, target="y", weight="weight")
    assert counted.constants_["horizon"] == counted.report_["rows"] < len(x)


def test_the_same_file_both_ways(program, tmp_path, regression, labels):
    x, y, _ = regression
    table, path = frame(x, labels), tmp_path / "m.safetensors"
    table.to_csv(tmp_path / "data.csv", index=False)
    # From Python to the command line ...
    model = OnePassClassifier().fit(table[NAMES], labels)
    model.save(path)
    printed = np.array(program("predict", path, tmp_path / "data.csv").split(), dtype=float)
    assert np.array_equal(printed, model.predict_proba(x)[:, 1])
    # ... and back.
    by_command(program, tmp_path, table)
    loaded = load(tmp_path / "model.safetensors")
    assert isinstance(loaded, OnePassClassifier) and np.array_equal(loaded.classes_, [0, 1])
    assert np.array_equal(loaded.predict_proba(table[NAMES]), model.predict_proba(table[NAMES]))
    assert np.array_equal(loaded.predict_file(tmp_path / "data.csv"), model.predict(table[NAMES]))
    by_command(program, tmp_path, frame(x, y), "--loss", "squared")
    assert isinstance(load(tmp_path / "model.safetensors"), OnePassRegressor)
