# The two commands of the README, and the pieces they are made of.
CARGO ?= cargo

TARGET ?= $(or $(CARGO_TARGET_DIR),target)

.PHONY: demo test fmt lint unit doc package python browser build release deny advisories

demo:  ## build the program and run the main job on shipped data
	$(CARGO) run --quiet --release --package rooco-cli -- demo

test: fmt lint unit doc package python browser  ## everything that CI runs

fmt:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --package rooco -- -D warnings  # the library alone, as a service embeds it

unit:
	$(CARGO) test --workspace

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

package:  ## the crates as they would be published: packed, unpacked, built, demo
	.ci/package.sh $(TARGET)

# The package as a user gets it, one wheel for every Python from 3.10 on, but with the profile of the tests above, so that what they built is
# used again. The same wheel must work in an environment that has nothing else, and no Rust.
python:
	rm -rf $(TARGET)/wheel $(TARGET)/fresh
	python3 -m venv $(TARGET)/venv
	MATURIN_PEP517_ARGS="--profile dev" $(TARGET)/venv/bin/pip wheel --quiet --disable-pip-version-check --no-deps -w $(TARGET)/wheel ./python
	test "$$(ls $(TARGET)/wheel/rooco-*-cp310-abi3-*.whl | wc -l)" = 1
	$(TARGET)/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(TARGET)/wheel/*.whl
	$(TARGET)/venv/bin/pip install --quiet --disable-pip-version-check "$$(ls $(TARGET)/wheel/*.whl)[test]"
	$(CARGO) build --quiet --package rooco-cli
	cd python/tests && SCIPY_ARRAY_API=1 ROOCO=$(abspath $(TARGET))/debug/rooco $(abspath $(TARGET))/venv/bin/pytest --quiet
	python3 -m venv $(TARGET)/fresh
	PATH=/usr/bin:/bin $(TARGET)/fresh/bin/pip install --quiet --disable-pip-version-check $(TARGET)/wheel/*.whl
	cd $(TARGET)/fresh && PATH=/usr/bin:/bin bin/python $(CURDIR)/python/tests/smoke.py

browser:  ## the reports of the lab and of fit in headless Chromium; installs it if it is missing
	$(CARGO) test --quiet --workspace --test lab -- report_is_one_small_file every_statement_of_the_paper
	$(CARGO) test --quiet --package rooco-cli --test program -- report::
	crates/rooco-lab/tests/browser/run.sh $(TARGET)/browser $(TARGET)/tmp/report/report.html $(TARGET)/tmp/frontier/report.html $(TARGET)/tmp/paper/report.html \
	  $(TARGET)/tmp/fit-signed/report.html $(TARGET)/tmp/fit-numbers/report.html

build:
	$(CARGO) build --release --package rooco-cli

# Not part of the tests: the tool takes minutes to build. RUSTC_BOOTSTRAP lets a stable compiler look at the flags of fuzz/libfuzzer.
deny:  ## licences, doubles and sources of the crates of others, by cargo-deny (`cargo install --locked cargo-deny`); needs no network
	$(CARGO) deny --offline check licenses bans sources
	cd fuzz/libfuzzer && RUSTC_BOOTSTRAP=1 $(CARGO) deny --offline check licenses bans sources

advisories:  ## known faults and withdrawn versions of the crates of others; fetches the RustSec database
	$(CARGO) deny check advisories
	cd fuzz/libfuzzer && RUSTC_BOOTSTRAP=1 $(CARGO) deny check advisories

release:  ## what must hold before anything is published; publishes nothing
	@! grep -n '^repository = .*\.example' Cargo.toml || { echo "give the repository its public address first" >&2; exit 1; }
	@test -z "$$(git status --porcelain)" || { echo "there are changes that are not committed" >&2; exit 1; }
	$(CARGO) publish --workspace --dry-run
