"""The stubs say what the compiled module is, and the Python half is typed."""

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]


def run(folder, *arguments):
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_match_the_compiled_module(tmp_path):
    run(tmp_path, "mypy.stubtest", "rooco._rooco")


def test_the_package_is_typed(tmp_path):
    assert (SOURCE / "rooco" / "py.typed").exists()
    run(SOURCE, "mypy", "--ignore-missing-imports", "--cache-dir", str(tmp_path), "-p", "rooco")
