"""Files as people have them: what rooco and a usual pandas + scikit-learn script make of each. Writes bench/NUISANCES.md.

    python3 bench/nuisances.py [ROOCO]        (needs pandas and scikit-learn; ROOCO is the program, `rooco` if not given)

Every file holds the same 4,000 rows: two numbers, a colour, and a class that follows them. `clean` is what both do without a nuisance.
The script beside rooco is what one finds in tutorials: read_csv, the mean for missing numbers, one-hot for text, standardise, LogisticRegression.
"""

import gzip
import json
import random
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOCO = sys.argv[1] if len(sys.argv) > 1 else "rooco"
N = 4000


def rows():
    r = random.Random(7)
    out = []
    for k in range(N):
        a, b, c = r.gauss(0, 1), r.gauss(5, 2), r.choice(["red", "green", "blue"])
        score = 1.5 * a - 0.7 * (b - 5) + {"red": 0.8, "green": 0.0, "blue": -0.8}[c] + r.gauss(0, 0.7)
        out.append(dict(y="yes" if score > 0 else "no", a=f"{a:.4f}", b=f"{b:.4f}", c=c))
    return out


def csv(table, sep=",", header=True, names=None, end="\n"):
    names = names or list(table[0])
    lines = [sep.join(names)] if header else []
    lines += [sep.join(str(row[k]) for k in table[0]) for row in table]
    return end.join(lines) + end


def each(change):
    table = rows()
    for k, row in enumerate(table):
        change(k, row)
    return csv(table)


def put(column, value, when):
    def change(k, row):
        if when(k):
            row[column] = value
    return lambda: each(change)


def add(column, value):
    return lambda: each(lambda k, row: row.__setitem__(column, value(k)))


def quoted():
    table = rows()
    for k, row in enumerate(table):
        row["note"] = f'"said ""{k % 7}"", then\nleft"'
    return csv(table)


def decimal():
    table = rows()
    for row in table:
        row["a"], row["b"] = row["a"].replace(".", ","), row["b"].replace(".", ",")
    return csv(table, ";")


def late():
    table = rows()
    table.sort(key=lambda row: row["y"])
    return csv(table)


def third():
    table = rows()
    for k in range(3900, 3910):
        table[k]["y"] = "maybe"
    return csv(table)


def ragged():
    lines = csv(rows()).split("\n")
    lines[2000] = lines[2000].rsplit(",", 1)[0]
    return "\n".join(lines)


CASES = [
    ("clean", lambda: csv(rows())),
    ("semicolons", lambda: csv(rows(), ";")),
    ("tabs, in a .csv", lambda: csv(rows(), "\t")),
    ("bars", lambda: csv(rows(), "|")),
    ("decimal commas and semicolons", decimal),
    ("a byte order mark and CRLF", lambda: "\ufeff" + csv(rows(), end="\r\n")),
    ("Latin-1 text", lambda: each(lambda k, row: row.__setitem__("c", "grün" if row["c"] == "green" else row["c"])).encode("latin-1")),
    ("gzip, without an ending that says so", lambda: gzip.compress(csv(rows()).encode())),
    ("no header", lambda: csv(rows(), header=False)),
    ("quotes, commas and line ends inside fields", quoted),
    ("pandas' saved index", lambda: each(lambda k, row: (row.clear() or row.update({"": k, **rows_cache[k]})))),
    ("two columns of one name", lambda: csv(rows(), names=["y", "a", "a", "c"])),
    ("a field too few in one row", ragged),
    ("`unknown` in one row of a number", put("a", "unknown", lambda k: k == 3)),
    ("`?` for 2 % of a number", put("a", "?", lambda k: k % 50 == 0)),
    ("`-` for 2 % of a number", put("a", "-", lambda k: k % 50 == 0)),
    ("`inf` in one row of a number", put("a", "inf", lambda k: k == 3)),
    ("empty fields, 2 % of a number", put("a", "", lambda k: k % 50 == 0)),
    ("empty fields, 2 % of the colours", put("c", "", lambda k: k % 50 == 0)),
    ("a word in row 3,500 of a number", put("a", "oops", lambda k: k == 3500)),
    ("an id of letters", add("id", lambda k: f"u{k * 7919:08x}")),
    ("a customer number", add("customer_id", lambda k: k * 7919 % 100003)),
    ("ISO dates", add("day", lambda k: f"2024-{1 + k % 12:02}-{1 + k % 28:02}")),
    ("times with an offset", add("at", lambda k: f"2024-01-{1 + k % 28:02}T{k % 24:02}:00:00+02:00")),
    ("dates as 31.12.2024", add("day", lambda k: f"{1 + k % 28:02}.{1 + k % 12:02}.2024")),
    ("money: $1,234.50", add("price", lambda k: f'"${1 + k % 9},{k % 1000:03}.50"')),
    ("a code of integers", add("code", lambda k: 1 + k * 31 % 23)),
    ("zip codes with zeros in front", add("zip", lambda k: f"0{2100 + k % 40}")),
    ("a constant column", add("same", lambda k: 7)),
    ("an empty column", add("nothing", lambda k: "")),
    ("free text", add("note", lambda k: f"this is remark {k} on the matter")),
    ("sorted by class: one class in the first 1,000 rows", late),
    ("a third class in ten late rows", third),
    ("JSON lines", lambda: "".join(json.dumps({**row, "a": float(row["a"]), "b": float(row["b"])}) + "\n" for row in rows())),
]
rows_cache = rows()


def short(text):
    line = next((l for l in text.strip().splitlines() if l.strip()), "")
    line = line.replace("rooco: ", "").replace("|", "\\|")
    return line if len(line) < 140 else line[:139] + "…"


def by_rooco(path):
    out = subprocess.run([ROOCO, "fit", path.name, "--target", "y" if "no header" not in path.stem else "1", "--shuffle", "--holdout", "0.25", "--json", "--quiet"],
                         capture_output=True, text=True, cwd=path.parent)
    if out.returncode:
        return "error: " + short(out.stderr)
    said = json.loads(out.stdout.splitlines()[-1])
    word = short("; ".join(l for l in out.stderr.splitlines() if "random order" not in l))
    left = [f"`{c['name']}` left out: {c['why']}" for c in said["columns"] if c["role"] == "drop"]
    dates = [f"`{c['name']}` as a date" for c in said["columns"] if c["role"] == "date"]
    told = "; ".join(filter(None, [word, *left, *dates]))
    return f"{said['holdout']['accuracy']:.3f}, {said['features']} features" + (f"; {told}" if told else "")


def by_scikit_learn(path):
    import pandas as pd
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    try:
        df = pd.read_csv(path)
        y = df.pop("y")
        model = make_pipeline(
            make_column_transformer(
                (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
                (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
            ),
            LogisticRegression(max_iter=1000),
        )
        X, X_test, y, y_test = train_test_split(df, y, test_size=0.25, random_state=1)
        model.fit(X, y)
        return f"{model.score(X_test, y_test):.3f}, {model[-1].n_features_in_} features"
    except Exception as e:  # noqa: BLE001
        return f"error: {type(e).__name__}: {short(str(e))}"


def main():
    warnings.simplefilter("ignore")
    lines = [
        "# Files as people have them",
        "",
        f"Made by `python3 bench/nuisances.py`. Held-out accuracy and the number of features, or the error; what is said on the way. {len(CASES) - 1} nuisances,",
        "the same rows behind each. The other column is the script of the tutorials: `read_csv`, means for missing numbers, one-hot for text, LogisticRegression.",
        "",
        "| file | rooco, no options | pandas + scikit-learn |",
        "|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, make in CASES:
            made = make()
            ending = "jsonl" if name == "JSON lines" else "csv"
            path = Path(folder) / f"{'no header' if name == 'no header' else 't'}.{ending}"
            path.write_bytes(made if isinstance(made, bytes) else made.encode())
            lines.append(f"| {name} | {by_rooco(path)} | {by_scikit_learn(path)} |")
            print(lines[-1])
    Path(__file__).with_name("NUISANCES.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
