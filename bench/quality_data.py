"""The data sets of the quality table, prepared alike for every learner.

    bench/quality_data.py DATA DIR [SETS]      # DIR/NAME.train, DIR/NAME.test: what the example program `measure` reads

Each set becomes a scipy CSR matrix with an intercept column of ones at the end, labels (±1 or a number), and a split of
75/25 by numpy's default_rng(0).permutation (MNIST: its own test set). The training rows stay in the order of that permutation;
other orders permute them again.
"""

import gzip
import pathlib
import struct

import numpy as np
import pandas as pd
import scipy.sparse as sp

REGRESSION = {"diamonds", "diamraw", "nycreg", "nycregraw", "randhie"}
MANY_CLASSES = {"digits", "digits8", "wine", "anes96", "seven"}
GENERATED = ["rare", "heavy", "seven"]
# Sets that pip packages carry: scikit-learn and statsmodels.
PACKAGED = ["digits8", "wine", "cancer", "anes96", "fair", "randhie"]
# Sets of one source are one piece of evidence.
SOURCES = {
    "clickbait": ["clickbait"],
    "nycflights13": ["nyclate", "nycreg", "nycregraw"],
    "census": ["acs", "acsraw"],
    "MNIST": ["mnist", "digits"],
    "flights": ["flights"],
    "diamonds": ["diamonds", "diamraw"],
    "generated": GENERATED,
    "scikit-learn": ["digits8", "wine", "cancer"],
    "statsmodels": ["anes96", "fair", "randhie"],
}
# Sources with few rows, or with more features than rows: one pass and batch differ for other reasons.
FEW = {"clickbait", "generated", "scikit-learn", "statsmodels"}
SETS = [name for names in SOURCES.values() for name in names]


def split(n):
    order = np.random.default_rng(0).permutation(n)
    cut = int(0.75 * n)
    return order[:cut], order[cut:]


def one_hot(frame):
    parts = []
    for name in frame.columns:
        codes, levels = pd.factorize(frame[name], sort=True)
        parts.append(sp.csr_matrix((np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), len(levels))))
    return sp.hstack(parts, format="csr")


def standardised(x, train):
    mean, std = x[train].mean(axis=0), x[train].std(axis=0)
    return (x - mean) / np.where(std > 0, std, 1.0)


def svm(path):
    from sklearn.datasets import load_svmlight_file

    x, y = load_svmlight_file(str(path))
    return x.tocsr(), np.where(y > 0, 1.0, -1.0)


def idx(path, header):
    with gzip.open(path) as f:
        return np.frombuffer(f.read(), dtype=np.uint8, offset=header)


def generated(name):
    """Sets that ask for centring, or punish it.

    rare: 1 % positives, ten raw columns whose offsets are 10 to 1000 times their spread. heavy: 60 columns, each zero in nine rows of
    ten and log-normal (sigma 2) in the others. seven: seven classes of very different frequency, ten raw columns as in rare.
    """
    rng = np.random.default_rng(15)
    n = 266_667
    if name == "rare":
        x = rng.normal(size=(n, 10)) @ (np.eye(10) + 0.3 * rng.normal(size=(10, 10)))
        x /= x.std(axis=0)
        score = x @ rng.normal(size=10) * 0.8 - 6.4
        x = 10 ** rng.uniform(-3, 3, size=10) * (x + 10 ** rng.uniform(1, 3, size=10) * rng.choice([-1, 1], size=10))
    elif name == "seven":
        n = 80_000
        x = rng.normal(size=(n, 10)) @ (np.eye(10) + 0.3 * rng.normal(size=(10, 10)))
        scores = x @ rng.normal(size=(10, 7)) + np.array([2.0, 1.0, 0.5, 0.0, -0.5, -2.0, -3.0])
        y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1).astype(float)
        x = 10 ** rng.uniform(-3, 3, size=10) * (x + 10 ** rng.uniform(1, 3, size=10) * rng.choice([-1, 1], size=10))
        return sp.csr_matrix(x), y
    else:
        n = 80_000
        x = np.where(rng.random((n, 60)) < 0.1, np.exp(2 * rng.normal(size=(n, 60))), 0.0)
        score = np.log1p(x) @ rng.normal(size=60) * 0.7 - 1.0
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
    return sp.csr_matrix(x), y


def packaged(name):
    """Sets that scikit-learn and statsmodels carry, columns as they are."""
    if name in ("digits8", "wine", "cancer"):
        from sklearn import datasets

        x, y = {"digits8": datasets.load_digits, "wine": datasets.load_wine, "cancer": datasets.load_breast_cancer}[name](return_X_y=True)
        return sp.csr_matrix(x.astype(float)), np.where(y > 0, 1.0, -1.0) if name == "cancer" else y.astype(float)
    from statsmodels import datasets

    table = {"anes96": datasets.anes96, "fair": datasets.fair, "randhie": datasets.randhie}[name].load_pandas()
    x, y = table.exog.to_numpy(float), table.endog.to_numpy(float)
    return sp.csr_matrix(x), np.where(y > 0, 1.0, -1.0) if name == "fair" else y


def load(name, data):
    """(x_train, y_train, x_test, y_test) of a set; x has an intercept column at the end."""
    data = pathlib.Path(data)
    if name in ("mnist", "digits"):
        parts = []
        for part in ("train", "t10k"):
            x = idx(data / f"mnist-{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784) / 255.0
            digit = idx(data / f"mnist-{part}-labels-idx1-ubyte.gz", 8).astype(float)
            parts.append((sp.csr_matrix(x), digit if name == "digits" else np.where(digit % 2 == 1, 1.0, -1.0)))
        (x, y), (x_test, y_test) = parts
        order = np.random.default_rng(0).permutation(len(y))
        return with_intercept(x[order]), y[order], with_intercept(x_test), y_test
    if name in GENERATED:
        x, y = generated(name)
    elif name in PACKAGED:
        x, y = packaged(name)
    elif name == "clickbait":
        x, y = svm(data / "clickbait.svm.gz")
    elif name == "nyclate":
        x, y = svm(data / "nycflights13-late.svm.gz")
    elif name in ("acs", "acsraw"):
        table = pd.read_csv(data / "acs-employment-ma.csv.gz")
        y = np.where(table["employed"] > 0, 1.0, -1.0)
        age = np.column_stack([table["AGEP"], table["AGEP"] ** 2]).astype(float)
        if name == "acs":
            age = standardised(age, split(len(y))[0])
        codes = table.drop(columns=["employed", "year", "AGEP"])
        x = sp.hstack([one_hot(codes), sp.csr_matrix(age)], format="csr")
    elif name == "flights":
        table = pd.read_parquet(data / "flights-3m.parquet")
        y = np.where(table["delay"] >= 15, 1.0, -1.0)
        keys = pd.DataFrame({"origin": table["origin"], "destination": table["destination"], "hour": table["date"].dt.hour, "day": table["date"].dt.dayofweek})
        x = one_hot(keys)
    elif name in ("diamonds", "diamraw"):
        table = pd.read_csv(data / "diamonds.csv.gz")
        y = np.log(table["price"].to_numpy(float))
        sizes = np.column_stack([np.log(table["carat"]), table[["depth", "table", "x", "y", "z"]]]).astype(float)
        if name == "diamonds":
            sizes = standardised(sizes, split(len(y))[0])
        x = sp.hstack([sp.csr_matrix(sizes), one_hot(table[["cut", "color", "clarity"]])], format="csr")
    elif name in ("nycreg", "nycregraw"):
        table = pd.read_csv(data / "nycflights13.csv.gz")
        y = table["arr_delay"].to_numpy(float)
        columns = "dep_delay month day dow dep_min arr_min distance temp dewp humid wind_dir wind_speed precip pressure visib".split()
        numbers = table[columns].to_numpy(float)
        train = split(len(y))[0]
        numbers = np.where(np.isnan(numbers), np.nanmean(numbers[train], axis=0), numbers)
        x = sp.csr_matrix(standardised(numbers, train) if name == "nycreg" else numbers)
    else:
        raise SystemExit(f"unknown set {name}; known: {', '.join(SETS)}")
    train, test = split(len(y))
    if name == "flights":
        train, test = train[:1_000_000], test[:250_000]
    x = with_intercept(x)
    return x[train], y[train], x[test], y[test]


def with_intercept(x):
    x = sp.hstack([x, np.ones((x.shape[0], 1))], format="csr")
    x.sort_indices()
    x.eliminate_zeros()
    return x


def write_prepared(path, x, y, weight):
    """The input of the programs `measure` and `quality`."""
    with open(path, "wb") as f:
        f.write(struct.pack("<QQ", x.shape[0], x.nnz))
        for part, kind in ((y, "<f8"), (weight, "<f8"), (x.indptr[1:], "<u8"), (x.indices, "<u4"), (x.data, "<f8")):
            f.write(np.ascontiguousarray(part, dtype=kind).tobytes())


def main():
    import sys

    data, work = sys.argv[1], pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3].split(",") if len(sys.argv) > 3 else SETS:
        x, y, x_test, y_test = load(name, data)
        write_prepared(work / f"{name}.train", x, y, np.ones(len(y)))
        write_prepared(work / f"{name}.test", x_test, y_test, np.ones(len(y_test)))
        print(name, x.shape, x.nnz // len(y), flush=True)


if __name__ == "__main__":
    main()
