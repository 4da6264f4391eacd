#!/usr/bin/env python3
"""A long pass through a pipe, with the memory of the program once a second: it must not grow.

    cargo build --release -p rooco-cli && python3 bench/soak.py 60 50000 --checkpoint soak.check --every 10000000

The arguments are the minutes, the rows a second (0 for as many as it takes), and further options of `rooco fit`. Rows are made here (signed weights,
categories that come back, a few missing values) and fed until the time is over. At the end the program must say how many
rows it learned from, and that must be all of them. Prints the memory after a tenth of the time and at the end; exit code 1 if it grew by more than 5 %.
"""

import os
import random
import subprocess
import sys
import threading
import time

minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
rate = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
program = os.environ.get("ROOCO", "target/release/rooco")
child = subprocess.Popen(
    [program, "fit", "-", "--target", "y", "--weight", "w", "--json", "--quiet", *sys.argv[3:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
)
memory = []


def resident():
    with open(f"/proc/{child.pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def watch():
    while child.poll() is None:
        try:
            memory.append((time.monotonic(), resident()))
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return
        time.sleep(1)


r = random.Random(1)
block, size = [], 20_000
for _ in range(size):
    x = [r.gauss(0, 1) for _ in range(6)]
    y = x[0] - 2 * x[1] + 0.5 * r.gauss(0, 1)
    gap = "" if r.random() < 0.01 else f"{x[5]:.4f}"
    block.append(f"{y:.4f},{','.join(f'{v:.4f}' for v in x[:5])},{gap},{r.choice('abcdefgh')},{-0.2 if r.random() < 0.1 else 1}\n")
text = "".join(block).encode()
start, rows = time.monotonic(), 0
threading.Thread(target=watch, daemon=True).start()
child.stdin.write(b"y,a,b,c,d,e,f,g,w\n")
while time.monotonic() - start < 60 * minutes:
    child.stdin.write(text)
    rows += size
    if rate:
        time.sleep(max(0.0, start + rows / rate - time.monotonic()))
child.stdin.close()
summary = child.stdout.read().decode().strip().splitlines()[-1]
assert child.wait() == 0, summary
assert f'"rows":{rows}' in summary.replace(" ", ""), summary
early = [m for t, m in memory if t - start < 6 * minutes + 2][-1]
late = max(m for t, m in memory if t - start > 54 * minutes - 2)
print(f"{rows} rows in {minutes} minutes; memory {early / 2**20:.1f} MiB after a tenth of the time, at most {late / 2**20:.1f} MiB in the last tenth")
sys.exit(late > 1.05 * early)
