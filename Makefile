# The two commands of the README, and the pieces they are made of.
CARGO ?= cargo

TARGET ?= $(or $(CARGO_TARGET_DIR),target)

.PHONY: demo test fmt lint unit doc python browser build

demo:  ## build the program and run the main job on shipped data
	$(CARGO) run --quiet --release --package rooco-cli -- demo

test: fmt lint unit doc python browser  ## everything that CI runs

fmt:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --package rooco -- -D warnings  # the library alone, as a service embeds it

unit:
	$(CARGO) test --workspace

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

# The package as a user installs it, but with the profile of the tests above, so that what they built is used again.
python:
	python3 -m venv target/venv
	MATURIN_PEP517_ARGS="--profile dev" target/venv/bin/pip install --quiet --disable-pip-version-check "./python[test]"
	$(CARGO) build --quiet --package rooco-cli
	cd python/tests && SCIPY_ARRAY_API=1 ROOCO=../../target/debug/rooco ../../target/venv/bin/pytest --quiet

browser:  ## the lab's reports in headless Chromium; installs it if it is missing
	$(CARGO) test --quiet --workspace --test lab -- report_is_one_small_file every_statement_of_the_paper
	crates/rooco-lab/tests/browser/run.sh $(TARGET)/browser $(TARGET)/tmp/report/report.html $(TARGET)/tmp/frontier/report.html $(TARGET)/tmp/paper/report.html

build:
	$(CARGO) build --release --package rooco-cli
