#!/usr/bin/env python3
"""What every part of the default learner buys: held-out loss without it over held-out loss with it, on all quality sets, signed and not.

    bench/quality_data.py DATA DIR
    cargo build --release -p rooco-bench --bin measure
    bench/ablation.py DIR [--orders 0,1,2] [--sets ...] [--kinds ...] [--out bench/ABLATION.md]

Each part is switched off in a hidden setting of the learner (`Part` in crates/rooco/src/algorithm/auto/part.rs). Needs Python alone.
"""

import argparse
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = "centre second brake guard clip grid warm-up shrink rest stale trust judge join hold-out".split()
# Hold-out is for rows that cannot be joined (more than the store takes, or the stream still runs): both sides without joining.
BESIDE = {"hold-out": "join"}
SETS = "acs,diamraw,nycregraw,rare,seven,heavy,clickbait,fair,randhie,nyclate,mnist,flights"
# Sets of many rows, on which the first order is enough unless --all-orders.
BIG = {"acs", "acsraw", "nycreg", "nycregraw", "rare", "seven", "nyclate", "mnist", "flights"}


def measure(args, part):
    found = {}
    for name in args.sets.split(","):
        orders = args.orders if args.all_orders or name not in BIG else args.orders.split(",")[0]
        command = [str(args.measure), args.dir, name, args.kinds, orders, f"threads={args.threads}"] + ([f"off={part}"] if part else [])
        for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
            r = line.split("\t")
            found[r[0], r[1]] = float(r[2])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir")
    parser.add_argument("--orders", default="0,1,2")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--kinds", default="clean,n25,n40,nc,ncc,ul,ule,reg")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--all-orders", action="store_true")
    parser.add_argument("--measure", type=pathlib.Path, default=ROOT / "target/release/measure")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/ABLATION.md")
    args = parser.parse_args()
    parts = args.parts.split(",")
    full = measure(args, None)
    without, base = {}, {}
    for part in parts:
        beside = BESIDE.get(part)
        base[part] = (without.get(beside) or measure(args, beside)) if beside else full
        without[part] = measure(args, f"{beside},{part}" if beside else part)
        print(part, flush=True)
    few = "" if args.all_orders else " (the first alone for the sets of many rows)"
    lines = [
        "# What every part of the default buys",
        "",
        f"Written by `bench/ablation.py`; do not edit. Orders {args.orders}{few}. Per cent by which the held-out loss is worse *without* the part (negative: better "
        "without it); a dot: less than 0.05 %. `rest` is there for speed. The kinds of rows are described in `bench/src/bin/measure.rs`.",
        "",
        "| set | kind | loss | " + " | ".join(parts) + " |",
        "|---" * (3 + len(parts)) + "|",
    ]
    for key, loss in full.items():
        cells = []
        for part in parts:
            change = 100 * (without[part][key] / base[part][key] - 1)
            big = "> 1000" if change > 1000 else f"{change:+.1f}"
            cells.append("·" if abs(change) < 0.05 else big)
        lines.append(f"| {key[0]} | {key[1]} | {loss:.5g} | " + " | ".join(cells) + " |")
    worst = {p: max(100 * (without[p][k] / base[p][k] - 1) for k in full) for p in parts}
    lines += ["", "The most that each part buys: " + ", ".join(f"{p} {worst[p]:.1f} %" for p in parts) + "."]
    lines += [
        "",
        "The losses are those of the model that is kept, but `hold-out`, which is measured without joining on both sides: it is for rows that cannot be joined. Which test fails without a part: "
        "`bench/MUTANTS.md`.",
    ]
    args.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
