# The two commands of the README, and the pieces they are made of.
CARGO ?= cargo

.PHONY: demo test fmt lint unit doc build

demo:  ## build the program and run the main job on shipped data
	$(CARGO) run --quiet --release --package rooco-cli -- demo

test: fmt lint unit doc  ## everything that CI runs

fmt:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings

unit:
	$(CARGO) test --workspace --all-features

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --all-features --no-deps

build:
	$(CARGO) build --release --package rooco-cli
