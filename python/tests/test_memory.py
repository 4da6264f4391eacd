"""Arrays are read where they are; streams pass through."""

import subprocess
import sys

import pytest

MEGABYTE = 1 << 20

# Peak memory of a process of its own, before and after. 80 MB of data; imports and first touches happen before.
SCRIPT = """
import resource, numpy as np, pyarrow as pa, scipy.sparse as sp
from rooco import OnePassRegressor
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
r = np.random.default_rng(1)
x = r.normal(size=(1_000_000, 10)); y = x[:, 0].copy()
small = pa.table({"a": x[:100, 0], "y": y[:100]})
OnePassRegressor().fit(x[:100], y[:100]); OnePassRegressor().fit_stream(small, target="y"); OnePassRegressor().fit(sp.csr_array(x[:100]), y[:100])
%s
"""
FIT = "before = peak(); OnePassRegressor().fit(x, y); print(peak() - before)"
CASES = {
    "C order": FIT,
    "Fortran order": "x = np.asfortranarray(x); " + FIT,
    "float32": "x = x.astype(np.float32); " + FIT,
    "strided": "x = x[:, ::2]; " + FIT,
    "CSR": "x = sp.csr_array(x); x.has_canonical_format; " + FIT,
    "batches": """
def batches():
    for k in range(200):
        part = r.normal(size=(5000, 10))
        yield pa.RecordBatch.from_arrays([pa.array(part[:, i].copy()) for i in range(10)], names=list("abcdefghiy"))
schema = pa.schema([(n, pa.float64()) for n in "abcdefghiy"])
before = peak()
model = OnePassRegressor().fit_stream(pa.RecordBatchReader.from_batches(schema, batches()), target="y")
assert model.report_["rows"] == 1_000_000
print(peak() - before)
""",
}


@pytest.mark.parametrize("name", CASES)
def test_no_copy_of_the_data(name):
    done = subprocess.run([sys.executable, "-c", SCRIPT % CASES[name]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The data are 40 to 120 MB.
    assert int(done.stdout) < 16 * MEGABYTE
