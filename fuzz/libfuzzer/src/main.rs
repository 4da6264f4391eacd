//! One program for all targets: `ROOCO_TARGET=csv cargo +nightly run --release -- ../corpus/csv`.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<rooco_fuzz::Target> = LazyLock::new(|| {
    let names: Vec<&str> = rooco_fuzz::TARGETS.iter().map(|t| t.0).collect();
    let name = std::env::var("ROOCO_TARGET").unwrap_or_default();
    let Some(target) = rooco_fuzz::target(&name) else {
        eprintln!("ROOCO_TARGET is {name:?}; set it to one of {}", names.join(", "));
        std::process::exit(2);
    };
    // libFuzzer's own hook ends the program at every panic, also at those of foreign readers that are caught where they are called. One that nobody
    // catches arrives at the harness, and ends it there.
    let is_said = std::env::var_os("ROOCO_SAY").is_some();
    std::panic::set_hook(Box::new(move |about| {
        if is_said {
            eprintln!("{about}");
        }
    }));
    target
});

fuzz_target!(|bytes: &[u8]| {
    TARGET(bytes);
});
