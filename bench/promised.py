#!/usr/bin/env python3
"""The figures of docs/promised.md: what --guarantee costs and prints, and certificates on signed versions of the census.

    python3 bench/promised.py [ROOCO]      (only the standard library; builds rooco unless a program is given)

CPU seconds are user + system of the process, the better of two runs. The signed versions of the census file are made here, by seed:
`signed`: one row in five weighs -0.5; `twins`: labels corrected for flips at rates .3 and .1, each row beside its twin of the other label.
"""
import csv
import gzip
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CENSUS = ROOT / "crates/rooco-cli/data/acs-employment-ma.csv.gz"
DIAMONDS = ROOT / "data/diamonds.csv.gz"


def run(rooco, *args):
    """The JSON of the last line, and CPU seconds."""
    best = None
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run([str(rooco), *map(str, args), "--json", "--quiet"], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if out.returncode not in (0, 1):
            sys.exit(f"rooco {' '.join(map(str, args))}: {out.stderr}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = cpu if best is None else min(best, cpu)
    return json.loads(out.stdout.strip().splitlines()[-1]), best


def guarantee(rooco, name, path, domain, *options):
    plain, cpu = run(rooco, "fit", path, *options, "--shuffle", "--features", "linear")
    insured, more = run(rooco, "fit", path, *options, "--shuffle", "--guarantee", "--domain", domain)
    promise, insurance = insured["promise"], insured["insurance"]
    print(f"{name}: progressive loss {plain['progressive_loss']:.10g} without, {insured['progressive_loss']:.10g} with --guarantee; "
          f"CPU {cpu:.2f} s and {more:.2f} s")
    print(f"    {insured['algorithm']}: {promise['text'].splitlines()[0]}")
    if insurance:
        print(f"    the default was played in {insurance['rounds']} rounds, budget {insurance['budget']:.4g}")


def signed_census(folder, twins):
    r = random.Random(1)
    path = pathlib.Path(folder) / ("twins.csv" if twins else "signed.csv")
    with gzip.open(CENSUS, "rt", newline="") as read, open(path, "w", newline="") as write:
        rows, out = csv.reader(read), csv.writer(write)
        header = next(rows)
        out.writerow([*header, "w"])
        lines = []
        plus, minus = 0.3, 0.1
        for row in rows:
            if twins:
                # The inverse of the noise: (1 - the other rate)/(1 - both) for the label seen, minus this rate/(1 - both) for the other.
                y = int(row[0])
                own, other = (plus, minus) if y == 1 else (minus, plus)
                lines.append([*row, (1 - other) / (1 - plus - minus)])
                lines.append([1 - y, *row[1:], -own / (1 - plus - minus)])
            else:
                lines.append([*row, -0.5 if r.random() < 0.2 else 1])
        r.shuffle(lines)
        out.writerows(lines)
    return path


def certificate(rooco, name, path, *options):
    out, cpu = run(rooco, "fit", path, *options, "--certify")
    c = out["certificate"]
    why = c.get("why_not_smaller") or c.get("why_no_gap") or ""
    print(f"{name}: gap {c['gap']}, at least {c.get('gap_at_least')} missing, against {c.get('against')}; CPU {cpu:.1f} s {why}")


def main():
    if len(sys.argv) > 1:
        rooco = pathlib.Path(sys.argv[1]).resolve()
    else:
        subprocess.run(["cargo", "build", "--release", "-q", "-p", "rooco-cli"], cwd=ROOT, check=True)
        rooco = ROOT / "target/release/rooco"
    # Age as one number: a weight for every year of it has categories of negative rows alone, and then there is no best model.
    census = ["--target", "employed", "--drop", "year", "--roles", "typed"]
    codes = "SCHL,MAR,RELP,DIS,ESP,CIT,MIG,MIL,ANC,NATIVITY,DEAR,DEYE,DREM,SEX"
    guarantee(rooco, "census, ball:50", CENSUS, "ball:50", *census)
    guarantee(rooco, "diamonds, ball:5000", DIAMONDS, "ball:5000", "--target", "price", "--drop", "cut,color,clarity")
    census += ["--features", "linear"]
    certificate(rooco, "census, codes as categories", CENSUS, *census, "--shuffle", "--categorical", codes)
    with tempfile.TemporaryDirectory() as folder:
        for twins in (False, True):
            path = signed_census(folder, twins)
            certificate(rooco, f"census, {'twins' if twins else 'signed'}", path, *census, "--weight", "w")
            certificate(rooco, f"census, {'twins' if twins else 'signed'}, codes as categories", path, *census, "--weight", "w", "--categorical", codes)
            os.remove(path)


if __name__ == "__main__":
    main()
