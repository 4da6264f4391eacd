#!/usr/bin/env python3
"""Is every part of the default learner noticed? Each is spoilt in turn, and the tests of crates/rooco are asked.

    bench/mutants.py [--only NAME,...] [--out bench/MUTANTS.md]

A copy of the repository gets all mutants at once, each behind a number that an environment variable chooses, so that it is built once. Then the quick tests
of the default run once a mutant: the unit tests of algorithm/auto and, if none of them fails, the tests default_* of tests/learn. A mutant that no test notices is an error: exit code 1.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
AUTO = "crates/rooco/src/algorithm/auto/"
FILTERS = {"lib": "algorithm::auto", "learn": "default_"}

# (what is spoilt, file, the expression, what it becomes). `PART(X)` stands for a part that is switched off: see part.rs.
MUTANTS = [
    # The parts of the issue, and those that have a switch.
    ("scaler: no centring", "round.rs", "Centre::default() }", "Centre::off() }"),
    ("scaler: no scale", "simd/rows.rs", "moment.sqrt()", "Four::splat(1.0)"),
    ("scaler: weights do not shrink when a scale jumps", "scaler/scale.rs", "root(old / self.fourth)", "1.0"),
    ("scaler: values far beyond those seen are not clamped", "round.rs", "self.lanes.scale(i).limit_of_data() + self.centre.of(i).abs()", "f64::MAX"),
    ("scaler: what a row surprises with is believed before it is known", "lanes/mod.rs", "self.unusual.surprise[output]", "0.0"),
    ("lanes: no averages", "lanes/mod.rs", "(4.0 / (t + 3.0)) as f32", "1.0"),
    ("lanes: four equal steps", "lanes/mod.rs", "self.grid.eta.map(|eta| eta * f as f32)", "[self.grid.eta[0] * f as f32; LANES]"),
    ("lanes: rounding without noise", "rounding.rs", "f32::from_bits(s >> 9 | 0x3f80_0000) - 1.5", "s as f32 * 0.0"),
    ("lanes: tiny gradients are kept", "lanes/mod.rs", "slope.abs() >= FLUSH * spread", "true"),
    ("lanes: L2 pulls not at all", "simd/rows.rs", "scale.pull(row.l2 * rounds, row.weight_exponent)", "0.0"),
    ("lanes: moving grid off", None, "PART(MovingGrid)", None),
    ("lanes: warm-up off", None, "PART(WarmUp)", None),
    ("lanes: shrink off", None, "PART(Shrink)", None),
    ("second order: off", "round.rs", "head.has_second_order()", "false"),
    ("second order: ridge x 1000", "second/solve.rs", "if around.quadratic { 1.0 } else { 0.25 }", "if around.quadratic { 1000.0 } else { 250.0 }"),
    ("second order: ridge off", "second/solve.rs", "if around.quadratic { 1.0 } else { 0.25 }", "1e-9"),
    ("second order: not for K classes", "head.rs", "(out.value, out.size, out.trace) = (yes - all, yes + all, 0.0)", "return false"),
    ("second order: sign guard (trust) off", None, "PART(Trust)", None),
    ("second order: stale curvature kept", None, "PART(StaleCurvature)", None),
    ("second order: judged by score alone", None, "PART(Judge)", None),
    ("second order: every step is clear", "second/solve.rs", "gain >= self.noise(&u, &q, &on)", "true"),
    ("second order: expanded at its own prediction", "round.rs", "at[c] = played[c];", "at[c] = reading.m[c][CANDIDATES - 1];"),
    ("second order: point of expansion not kept near the lanes", "round.rs", "at[c].clamp(lanes - FAR, lanes + FAR)", "at[c]"),
    ("second order: takes part from the first signed row", "second/mod.rs", "self.sums.net * self.sums.net >= needed * self.sums.squared", "true"),
    ("second order: targets not relative to their mean", "second/solve.rs", "self.origin - around.mean", "0.0"),
    ("second order: no L2", "second/solve.rs", "around.l2 * self.sums.rows", "0.0"),
    ("jury: RATE x 10", "jury/mod.rs", "RATE * self.weight / self.weight_squared", "10.0 * RATE * self.weight / self.weight_squared"),
    ("jury: old rows count in full", "jury/mod.rs", "self.n as f64 / (self.n as f64 + 1.0)", "1.0"),
    ("jury: sign guard off", None, "PART(Guard)", None),
    ("jury: clip off", None, "PART(Clip)", None),
    ("jury: never alone", "jury/mod.rs", "self.n >= ALONE_FROM", "false"),
    ("jury: lanes never rest", None, "PART(Rest)", None),
    ("jury: resting lanes never wake", "round.rs", "!(self.t + 1).is_multiple_of(AWAKE)", "true"),
    ("jury: no veto", "jury/mod.rs", "(!vetoed).then_some(last)", "Some(last)"),
    ("jury: hold-out off", None, "PART(HoldOut)", None),
    ("jury: brake off", None, "PART(Brake)", None),
    ("jury: brake blind to runs", "jury/brake.rs", "self.run >= RUN", "false"),
    ("jury: brake blind to the net weight", "jury/brake.rs", "self.net * self.net > FAR * FAR * self.squared", "false"),
    ("jury: after a block the scores still choose", "jury/mod.rs", "if self.ordered {", "if false {"),
    ("label: mean not taken out", "label.rs", "off * (s.abs() / self.weight)", "0.0"),
    ("label: spread not taken out", "label.rs", "(self.squares.max(0.0) / self.weight).sqrt()", "1.0"),
    ("weights: their unit is not", "round.rs", "e > self.weight_exponent + 20", "false"),
    ("join: off", "round.rs", "join: Some(Join::default())", "join: None"),
    ("join: rows that hardly cancel are learned once more too", "join.rs", "self.cancelled >= WORTH * self.total", "true"),
    ("K classes: what labels corrected in one row are worth", "head.rs", "self.b * (self.k as f64 * log - sum).max(0.0)", "0.0"),
]

MODULE = """
/// Which mutant is asked for: see bench/mutants.py.
#[allow(missing_docs)]
pub mod mutant {
    pub fn on(k: usize) -> bool {
        static ASKED: std::sync::LazyLock<usize> =
            std::sync::LazyLock::new(|| std::env::var("ROOCO_MUTANT").ok().and_then(|v| v.parse().ok()).unwrap_or(usize::MAX));
        *ASKED == k
    }
}
"""


def spoil(copy):
    """Writes every mutant into the copy, behind its number."""
    texts, parts = {}, []
    for k, (name, file, old, new) in enumerate(MUTANTS):
        if file is None:
            parts.append(f"crate::mutant::on({k}) && matches!(part, Part::{re.fullmatch(r'PART[(](.*)[)]', old)[1]})")
            continue
        path = copy / AUTO / file
        text = texts.setdefault(path, path.read_text())
        code = text.split("#[cfg(test)]")[0]
        if code.count(old) < 1:
            sys.exit(f"{name}: `{old}` is not in {file}")
        texts[path] = text.replace(old, both(k, old, new), 1)
    path = copy / AUTO / "part.rs"
    has = "self.0 >> part as u32 & 1 == 1"
    texts[path] = path.read_text().replace(has, " || ".join(f"({p})" for p in [has, *parts]))
    lib = copy / "crates/rooco/src/lib.rs"
    texts[lib] = lib.read_text() + MODULE
    for path, text in texts.items():
        path.write_text(text)


def both(k, old, new):
    on = f"crate::mutant::on({k})"
    field = re.match(r"(\w+): ", old)
    if old.startswith("if ") and old.endswith("{"):
        return f"if !{on} && {old[3:]}"
    if field:
        return f"{field[0]}if {on} {{ {new[len(field[0]):]} }} else {{ {old[len(field[0]):]} }}"
    if old.endswith(" }") and not old.startswith("if "):
        return f"if {on} {{ {new[:-2]} }} else {{ {old[:-2]} }} }}"
    if old.endswith(";"):
        return f"if {on} {{ {new} }} else {{ {old} }}"
    return f"(if {on} {{ {new} }} else {{ {old} }})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/MUTANTS.md")
    args = parser.parse_args()
    copy = pathlib.Path(tempfile.mkdtemp(prefix="rooco-mutants-"))
    try:
        shutil.copytree(ROOT, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("target", ".git", "node_modules", "__pycache__"))
        spoil(copy)
        run(args, copy)
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def run(args, copy):
    env = dict(os.environ, CARGO_TARGET_DIR=str(ROOT / "target"))
    build = ["cargo", "test", "-p", "rooco", "--lib", "--test", "learn", "--no-run"]
    out = subprocess.run(build, cwd=copy, env=env, capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    programs = {kind: next(p for p in re.findall(r"Executable .*\((.*)\)", out.stderr) if f"deps/{name}-" in p) for kind, name in (("lib", "rooco"), ("learn", "learn"))}
    # Another build in the same target directory must not replace them.
    programs = {kind: shutil.copy(program, copy / f"{kind}-tests") for kind, program in programs.items()}

    def failed(k):
        found = []
        for kind, program in programs.items():
            variables = dict(os.environ, ROOCO_MUTANT=str(k), CARGO_MANIFEST_DIR=str(ROOT / "crates/rooco"))
            test = subprocess.run([program, FILTERS[kind]], cwd=ROOT / "crates/rooco", env=variables, capture_output=True, text=True)
            found += re.findall(r"^test (\S+) \.\.\. FAILED", test.stdout, re.M)
            if found:
                break
        return found

    nothing = failed(-1)
    if nothing:
        sys.exit(f"tests fail without any mutant: {nothing}")
    rows, unnoticed = [], []
    for k, (name, file, old, new) in enumerate(MUTANTS):
        if args.only and not any(word in name for word in args.only.split(",")):
            continue
        found = [f.split("::")[-1] for f in failed(k)]
        print(f"{name}: {', '.join(found) or 'NOTHING'}", flush=True)
        unnoticed += [] if found else [name]
        rows.append((name, found))
    if not args.only:
        lines = [
            "# Which test notices",
            "",
            "Written by `bench/mutants.py`; do not edit. Each part of the default learner spoilt in turn, and the tests that failed then: the unit tests of `algorithm/auto` and",
            "(only if none of those did) the tests `default_*` of `crates/rooco/tests/learn`. What exactly was spoilt is in the script.",
            "",
            "| spoilt | noticed by |",
            "|---|---|",
        ]
        show = lambda found: ", ".join(f"`{f}`" for f in found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
        lines += [f"| {name} | {show(found) or '**nothing**'} |" for name, found in rows]
        args.out.write_text("\n".join(lines) + "\n")
    sys.exit(1 if unnoticed else 0)


if __name__ == "__main__":
    main()
