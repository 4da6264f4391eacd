"""What the tests share: data with a known answer, and the command line to compare with."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program():
    """Runs the `rooco` command; it is built if ROOCO does not name it."""
    path = os.environ.get("ROOCO")
    if path is None:
        subprocess.run(["cargo", "build", "--quiet", "--package", "rooco-cli"], cwd=ROOT, check=True)
        path = ROOT / "target/debug/rooco"

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def regression():
    """3000 rows of four numbers; the second column is of another size, the weights have both signs."""
    r = np.random.default_rng(7)
    x = r.normal(size=(3000, 4)) * [1.0, 100.0, 0.1, 1.0]
    y = x @ [1.0, -0.02, 5.0, 0.0] + 2.0 + 0.3 * r.normal(size=3000)
    weight = np.where(r.random(3000) < 0.15, -0.5, 1.25)
    return x, y, weight


@pytest.fixture(scope="session")
def labels(regression):
    """Two classes of the same rows."""
    x, y, _ = regression
    r = np.random.default_rng(8)
    return (r.random(len(y)) < 1 / (1 + np.exp(-(y - 2.0)))).astype(int)
