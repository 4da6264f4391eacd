"""The installed package without anything else of the repository: python smoke.py (the Makefile runs it where there is no Rust)."""

import pathlib
import shutil
import tempfile
from importlib.metadata import distribution, version

import numpy as np

import rooco
from rooco import OnePassClassifier, OnePassRegressor

assert shutil.which("cargo") is None and shutil.which("rustc") is None, "this should run without Rust"
package = pathlib.Path(rooco.__file__).parent
assert "site-packages" in package.parts, f"{package} is not the installed package"

files = {pathlib.PurePath(f).name for f in distribution("rooco").files or []}
assert {"LICENSE-MIT", "LICENSE-APACHE", "py.typed", "_rooco.pyi"} <= files, files
compiled = [f for f in files if f.startswith("_rooco.") and not f.endswith(".pyi")]
assert all("abi3" in f for f in compiled) and len(compiled) == 1, compiled

r = np.random.default_rng(1)
x = r.normal(size=(2000, 3))
y = x @ [1.0, -2.0, 0.5] + 3.0 + 0.1 * r.normal(size=2000)
weight = np.where(r.random(2000) < 0.2, -0.5, 1.25)  # of either sign
model = OnePassRegressor().fit(x, y, weight)
assert np.mean((model.predict(x) - y) ** 2) < 0.05
assert OnePassClassifier().fit(x, y > 3).score(x, y > 3) > 0.95
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "m.safetensors"
    model.model_.save(file)
    again = rooco.load(file)
    assert again.to_bytes() == model.model_.to_bytes()
print(f"rooco {version('rooco')} works from its wheel")
