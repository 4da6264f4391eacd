#!/usr/bin/env python3
"""Is every repair of issue 20 noticed? Each is switched off in turn, and the test that should fail is run.

    bench/repairs.py [--only PART-OF-A-NAME,...] [--suites files,disk,...] [--copy FOLDER]

A copy of the repository gets all switches at once, each behind a number that an environment variable chooses, so that it is built once; without a number it is
the program as it is, and every test is first seen to pass on it. What was seen goes into the table of docs/reliability.md ("Are the tests able to fail?"). A repair that no test misses is an error: exit code 1.
Not here: pipes and devices as outputs (with the repair off, /dev/null itself would be replaced) and signals (their tests wait for minutes when they fail).
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
DOCUMENT = ROOT / "docs/reliability.md"
BEGIN, END = "<!-- repairs, drawn by bench/repairs.py: begin -->\n", "<!-- repairs, drawn by bench/repairs.py: end -->\n"

# The tests: cargo's arguments, and the file name of the program that they make.
SUITES = {
    "program": (["-p", "rooco-cli", "--test", "program"], "program"),
    "disk": (["-p", "rooco", "--lib"], "rooco"),
    "data": (["-p", "rooco-data", "--lib"], "rooco_data"),
    "files": (["-p", "rooco-data", "--test", "files"], "files"),
    "outside": (["-p", "rooco-pass", "--test", "outside"], "outside"),
    "lab": (["-p", "rooco-lab", "--test", "lab"], "lab"),
    "labs": (["-p", "rooco-lab", "--lib"], "rooco_lab"),
    "fuzz": (["-p", "rooco-fuzz", "--test", "corpus"], "corpus"),
}

# Crates around the learner are not optimised: most of the time is that of the compiler.
FAST = [o for c in ["rooco-data", "rooco-pass", "rooco-lab", "rooco-cli", "rooco-fuzz"] for o in ["--config", f"profile.dev.package.{c}.opt-level=0"]]

# (point of the issue, what is switched off, folder, the code, what it becomes, suite, filter). `ON` is true while the repair is off.
REPAIRS = [
    ("1", "a new run does not start over the rows of a checkpoint", "crates/rooco-cli/src/command", "checkpoint.exists() && path.exists()", "!ON && checkpoint.exists() && path.exists()", "program", "waiting_rows_outlive"),
    ("2", "a checkpoint belongs to its rows", "crates/rooco-pass/src/fit", "self.read == self.rows && self.rolling != self.expected", "!ON && self.read == self.rows && self.rolling != self.expected", "program", "a_checkpoint_belongs"),
    ("2", "… to data that are long enough", "crates/rooco-pass/src/fit", "if self.read < self.rows { Err(self.others()) } else", "if !ON && self.read < self.rows { Err(self.others()) } else", "program", "a_checkpoint_belongs"),
    ("2", "… to its options and columns", "crates/rooco-pass/src/fit", ".find(|k| self.options.get(*k) != options.get(*k))", ".find(|k| !ON && self.options.get(*k) != options.get(*k))", "program", "a_checkpoint_belongs"),
    ("2", "… to the version of the program", "crates/rooco-pass/src/fit", 'if self.version != env!("CARGO_PKG_VERSION")', 'if !ON && self.version != env!("CARGO_PKG_VERSION")', "program", "a_checkpoint_belongs"),
    ("3", "permissions are kept", "crates/rooco/src/disk", "file.set_permissions(old.permissions())?;", "if !ON { file.set_permissions(old.permissions())?; }", "disk", "disk::output"),
    ("3", "links are followed", "crates/rooco/src/disk", "let Ok(to) = std::fs::read_link(&target) else", "let Some(to) = std::fs::read_link(&target).ok().filter(|_| !ON) else", "disk", "disk::output"),
    ("3", "an output is no input", "crates/rooco-cli/src/command", ".find(|input| place.is(input))", ".find(|input| !ON && place.is(input))", "program", "outputs_are_looked_at"),
    ("3", "two outputs do not share a place", "crates/rooco-cli/src/command", ".find(|(_, p)| p.is_also(&place))", ".find(|(_, p)| !ON && p.is_also(&place))", "program", "outputs_are_looked_at"),
    ("3", "`--test` must exist before the pass", "crates/rooco-cli/src/command", "a.test.iter().try_for_each(|test| Input::File(test.clone()).look())?;", "if !ON { a.test.iter().try_for_each(|test| Input::File(test.clone()).look())?; }", "program", "outputs_are_looked_at"),
    ("3", "drafts have names of their own", "crates/rooco/src/disk", 'format!("{before}{}{after}", left::mark())', 'format!("{before}{}{after}", if ON { "draft".into() } else { left::mark() })', "program", "two_runs_on_one_path"),
    ("4", "weights that are not finite are not written", "crates/rooco-pass/src/model", "if !finite(&r.weights) || !finite(&r.offset)", "if !ON && (!finite(&r.weights) || !finite(&r.offset))", "program", "what_is_written"),
    ("4", "figures that are not finite are not written", "crates/rooco-pass/src/model", "if A::deserialize(&about).is_err() {", "if !ON && A::deserialize(&about).is_err() {", "program", "what_is_written"),
    ("4", "denormals count as zero", "crates/rooco/src/algorithm/auto/scaler", "v.abs() < f64::MIN_POSITIVE", "if ON { v == 0.0 } else { v.abs() < f64::MIN_POSITIVE }", "program", "what_is_written"),
    ("6", "a saved matrix comes back to the last bit", "crates/rooco/src", "let whole = Self::restored(a)", "let whole = Self::restored(a).map(|m| if ON { Self::from_rows(m.d, &m.a) } else { m })", "program", "a_resumed_replay_says"),
    ("7", "a folder that may not be read is an error", "crates/rooco-data/src/stream", "let found = found.map_err(|e| Error::Io { file: e.path().into(), source: e.into() })?;", "if ON && found.is_err() { continue; }\n            let found = found.map_err(|e| Error::Io { file: e.path().into(), source: e.into() })?;", "program", "a_pattern_that_cannot"),
    ("7", "a closed standard output is an error", "crates/rooco-cli/src", "CLOSED.load(Ordering::Relaxed)", "!ON && CLOSED.load(Ordering::Relaxed)", "program", "a_closed_standard_output"),
    ("8", "panics of foreign readers are caught", "crates/rooco-data/src/stream", "let done = panic::catch_unwind(AssertUnwindSafe(work));", "let done = if ON { Ok(work()) } else { panic::catch_unwind(AssertUnwindSafe(work)) };", "fuzz", "every_byte"),
    ("8", "lengths of compressed Arrow buffers are checked", "crates/rooco-data/src/stream", "if !sound {", "if !ON && !sound {", "data", "arrow_frames"),
    ("8", "Arrow bytes are made as they come", "crates/rooco-data/src/stream", "let had = to.len();", "let had = to.len();\n        if ON { to.reserve_exact(n); }", "data", "arrow_frames"),
    ("8", "lengths of Parquet chunks are checked", "crates/rooco-data/src/stream", "if start.checked_add(length as u64)", "if !ON && start.checked_add(length as u64)", "data", "searched"),
    ("9", "arrays of a rule fit together", "crates/rooco/src", 'if fits { Ok(rule) }', 'if fits || ON { Ok(rule) }', "outside", ""),
    ("9", "rows of a state fit together", "crates/rooco/src/rows", 'if fits { Ok(past) }', 'if fits || ON { Ok(past) }', "outside", ""),
    ("9", "counts are no larger than there can be", "crates/rooco/src", "n if n <= 1 << 62 => Ok(n),", "n if n <= 1 << 62 || ON => Ok(n),", "outside", ""),
    ("9", "a saved matrix is square", "crates/rooco/src", "(d * d == entries.len()).then(|| Symmetric {", "(d * d == entries.len() || ON).then(|| Symmetric {", "outside", ""),
    ("9", "scales are sizes", "crates/rooco/src/algorithm/auto", "if !fourth.iter().chain(count).all(|v| *v >= 0.0 && v.is_finite()) {", "if !ON && !fourth.iter().chain(count).all(|v| *v >= 0.0 && v.is_finite()) {", "outside", ""),
    ("9", "a step that is not finite is an error", "crates/rooco/src/step", "if eta.is_finite() { Ok(eta) }", "if eta.is_finite() || ON { Ok(eta) }", "program", "extreme_settings"),
    ("9", "a name in the lab is no path", "crates/rooco-lab/src", "name.is_empty() || name.contains(['/', '\\\\'])", "name.is_empty() || (!ON && name.contains(['/', '\\\\']))", "program", "extreme_settings"),
    ("9", "`t` in the lab has a limit", "crates/rooco-lab/src", "if t.iter().any(|&t| t > MOST_ROWS) {", "if !ON && t.iter().any(|&t| t > MOST_ROWS) {", "labs", "a_mistake_names"),
    ("10", "features have a limit", "crates/rooco-data/src/stream", "options.max_features.min(u32::MAX as usize) } as i64;", "(if ON { usize::MAX } else { options.max_features }).min(u32::MAX as usize) } as i64;", "program", "the_limit_on_features"),
    ("10", "columns are found without a search", "crates/rooco-data/src/stream", "match at.get(column.name.as_str()) {", "match at.get(column.name.as_str()).filter(|_| !ON || names.iter().rev().filter(|n| **n == column.name).count() > 0) {", "program", "time_is_linear"),
    ("11", "drafts of killed runs are removed", "crates/rooco/src/disk", "if over && std::fs::File::open(entry.path())", "if !ON && over && std::fs::File::open(entry.path())", "disk", "disk::output"),
    ("11", "temporary directories of killed runs are removed", "crates/rooco/src/disk", "if !process.is_some_and(left::is_over)", "if ON || !process.is_some_and(left::is_over)", "disk", "disk::scratch"),
    ("11", "… and private", "crates/rooco/src/disk/scratch.rs", "DirBuilderExt::mode(&mut builder, 0o700);", "DirBuilderExt::mode(&mut builder, if ON { 0o755 } else { 0o700 });", "disk", "disk::scratch"),
    ("11", "a rename is brought to the disk", "crates/rooco/src/disk", "std::fs::rename(from, to)?;", "std::fs::rename(from, to)?;\n    if ON { return Ok(()); }", "program", "a_rename_is_brought"),
    ("11", "control characters do not reach the screen", "crates/rooco-cli/src/output", "let harmless = |c: char| !c.is_control()", "let harmless = |c: char| ON || !c.is_control()", "program", "terminal_escapes"),
    ("faults", "a file that is cut while it is read is an error", "crates/rooco-data/src/stream", "if n == 0 && most > 0 && self.length < u64::MAX {", "if !ON && n == 0 && most > 0 && self.length < u64::MAX {", "files", "changed_while_read"),
    ("faults", "what is appended while a file is read is not", "crates/rooco-data/src/stream", "let most = (self.length - self.read).min(buf.len() as u64) as usize;", "let most = if ON { buf.len() } else { (self.length - self.read).min(buf.len() as u64) as usize };", "files", "changed_while_read"),
    ("faults", "the log of the lab belongs to a seed", "crates/rooco-lab/src", 'Source::Family(_) | Source::Events(_) => format!("{version} seed {seed}")', 'Source::Family(_) | Source::Events(_) => format!("{version} seed {}", if ON { 0 } else { seed })', "lab", "a_changed_experiment"),
    ("faults", "… and to the content of the data", "crates/rooco-lab/src", "d.content()?)", "if ON { 0 } else { d.content()? })", "lab", "a_changed_experiment"),
    ("8", "a Parquet page does not say more than can come out of it", "crates/rooco-data/src/stream", "if long > BELIEVED.max(", "if !ON && long > BELIEVED.max(", "data", "measured"),
]

MODULE = """
/// Which repair is switched off: see bench/repairs.py.
#[allow(missing_docs)]
pub mod repair {
    pub fn is_off(k: usize) -> bool {
        static ASKED: std::sync::LazyLock<usize> =
            std::sync::LazyLock::new(|| std::env::var("ROOCO_REPAIR").ok().and_then(|v| v.parse().ok()).unwrap_or(usize::MAX));
        *ASKED == k
    }
}
"""


def switch(copy):
    """Copies the repository with every switch in it, behind its number; files that are the same already stay untouched, and are not built again.
    The code stands in one place of its folder, wherever files are cut."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = {ROOT / name: (ROOT / name).read_bytes() for name in listed.split("\0") if name and (ROOT / name).is_file()}
    texts = {}
    for k, (_, name, folder, old, new, _, _) in enumerate(REPAIRS):
        place = ROOT / folder
        found = []
        for path in [place] if place.is_file() else sorted(place.rglob("*.rs")):
            text = texts.get(path, path.read_text())
            if old in text.split("#[cfg(test)]\nmod tests")[0]:
                found.append(path)
                texts[path] = text
        if len(found) != 1:
            sys.exit(f"{name}: `{old}` is in {len(found)} files of {folder}")
        crate = "crate" if folder.startswith("crates/rooco/") else "rooco"
        texts[found[0]] = texts[found[0]].replace(old, re.sub(r"\bON\b", f"{crate}::repair::is_off({k})", new), 1)
    lib = ROOT / "crates/rooco/src/lib.rs"
    texts[lib] = texts.get(lib, lib.read_text()) + MODULE
    files |= {path: text.encode() for path, text in texts.items()}
    for path, content in files.items():
        to = copy / path.relative_to(ROOT)
        if not to.is_file() or to.read_bytes() != content:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(content)
            shutil.copymode(path, to)


def build(copy, suites):
    env = dict(os.environ)
    env.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
    programs = {}
    for suite in suites:
        arguments, name = SUITES[suite]
        out = subprocess.run(["cargo", *FAST, "test", *arguments, "--no-run"], cwd=copy, env=env, capture_output=True, text=True)
        if out.returncode:
            sys.exit(out.stderr)
        program = next(p for p in re.findall(r"Executable .*\((.*)\)", out.stderr) if f"deps/{name}-" in p)
        programs[suite] = (pathlib.Path(env["CARGO_TARGET_DIR"], program) if not program.startswith("/") else program, copy / f"{suite}-tests", arguments[1])
    for program, kept, _ in programs.values():
        shutil.copy(program, kept)
    return programs


def failed(copy, programs, suite, filter, k):
    """The tests that fail."""
    _, program, crate = programs[suite]
    folder = copy / {"rooco-fuzz": "fuzz"}.get(crate, f"crates/{crate}")
    env = {name: value for name, value in os.environ.items() if name != "ROOCO_REPAIR"}
    env |= {} if k is None else dict(ROOCO_REPAIR=str(k))
    try:
        out = subprocess.run([program, filter], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return [f"{filter or suite} (not over after five minutes)"]
    found = re.findall(r"^test (\S+) \.\.\. FAILED", out.stdout, re.M)
    if out.returncode and not found:
        # An abort takes the whole program down.
        found = [f"{filter or suite} (the program ended: {out.returncode})"]
    if k is None and found:
        print(out.stdout, out.stderr, file=sys.stderr)
    if " 0 passed; 0 failed" in out.stdout:
        sys.exit(f"{suite} has no test {filter}")
    return found


def draw(rows):
    """Writes what was seen into the table; the other lines stay as they are."""
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    seen = dict(line.strip("| ").split(" | ", 1) for line in table.splitlines()[2:]) | rows
    names = [f"{point}. {name}" for point, name, *_ in REPAIRS]
    lines = "".join(f"| {name} | {seen.get(name, 'not run')} |\n" for name in names)
    DOCUMENT.write_text(f"{before}{BEGIN}| switched off | noticed by |\n|---|---|\n{lines}{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--copy", help="a folder for the copy, which stays, for the next time")
    parser.add_argument("--suites", default=",".join(SUITES))
    args = parser.parse_args()
    wanted, suites = [w for w in args.only.split(",") if w], args.suites.split(",")
    chosen = [(k, r) for k, r in enumerate(REPAIRS) if r[5] in suites and (not wanted or any(w in r[1] for w in wanted))]
    broken = set()
    copy = pathlib.Path(args.copy or tempfile.mkdtemp(prefix="rooco-repairs-")).resolve()
    try:
        switch(copy)
        programs = build(copy, sorted({r[5] for _, r in chosen}))
        for suite, filter in sorted({(r[5], r[6]) for _, r in chosen}):
            if bad := failed(copy, programs, suite, filter, None):
                print(f"{bad} fail with every repair on", flush=True)
                broken.add((suite, filter))
        chosen = [(k, r) for k, r in chosen if (r[5], r[6]) not in broken]
        rows, unnoticed = {}, 0
        for k, (point, name, _, _, _, suite, filter) in chosen:
            found = failed(copy, programs, suite, filter, k)
            said = ", ".join(f"`{t.split('::')[-1]}`" for t in found) or "**nothing**"
            print(f"{point}. {name}: {said}", flush=True)
            rows[f"{point}. {name}"] = said
            unnoticed += not found
    finally:
        if not args.copy:
            shutil.rmtree(copy, ignore_errors=True)
    draw(rows)
    print(f"{len(chosen)} repairs, {unnoticed} unnoticed")
    sys.exit(unnoticed > 0 or bool(broken))


if __name__ == "__main__":
    main()
