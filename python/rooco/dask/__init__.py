"""Beyond one machine: shuffle, learn, certify and experiment on a Dask cluster. See docs/scale.md.

Rows come in parts: files that every worker can read, the partitions of a dask DataFrame, the blocks of a dask Array. A part is the unit of everything: results depend on the
parts and their order, never on how many workers there are or which of them did what, and a part whose worker dies is done again.

```text
_cluster.py  a cluster, results in order, nothing left behind
_parts.py    where the rows are; what their columns mean together
_learn.py    fit: the mean of the models of parts, Theorem 12, the optimum
_holds.py    audit, order_test, certify, predict
_shuffle.py  shuffle        _lab.py  lab
```
"""

from rooco.dask._cluster import local
from rooco.dask._holds import audit, certify, order_test, predict
from rooco.dask._lab import lab
from rooco.dask._learn import fit
from rooco.dask._shuffle import shuffle

__all__ = ["audit", "certify", "fit", "lab", "local", "order_test", "predict", "shuffle"]
