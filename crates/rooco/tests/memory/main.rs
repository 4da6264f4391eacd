//! What the stores of past rows take, byte by byte.
//!
//! Reason for `unsafe` in this file: an allocator that counts has to be one.
#![allow(unsafe_code, missing_docs)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rooco::Row;
use rooco::draw::{Draw, Draws, Reservoir};
use rooco::replay::MemoryStore;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most bytes that were allocated at a time while `work` ran, beyond those before.
fn peak(work: impl FnOnce()) -> usize {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    work();
    PEAK.load(Relaxed) - before
}

fn run(mut draw: impl Draw, horizon: u64) {
    for t in 1..=horizon {
        let x = [t as f64, 1.0];
        let z = Row::dense(&x, 0.0);
        draw.draw(t, z).unwrap();
        draw.keep(t, z).unwrap();
    }
}

/// One test, because the counter is one.
#[test]
fn bookkeeping_takes_4_bytes_a_round_and_on_disk_memory_does_not_grow_with_t() {
    let horizon = 1_000_000;
    let replays = Reservoir::replays(horizon, Draws::seeded(1)).unwrap();
    let mut rows = 0;
    let all = peak(|| {
        let store = MemoryStore::new(replays).unwrap();
        // y, weight and two features.
        rows = 32 * store.plan().peak_live_rows();
        run(Reservoir::with_store(store).unwrap(), horizon);
    });
    let bookkeeping = (all - rows) as f64 / horizon as f64;
    assert!((4.0..4.1).contains(&bookkeeping), "{bookkeeping} bytes a round beside the rows");

    let budget = 1 << 20;
    let directory = std::env::temp_dir().join(format!("rooco-test-memory-{}", std::process::id()));
    let on_disk = |horizon| peak(|| run(Reservoir::on_disk(horizon, Draws::seeded(1), &directory, budget).unwrap(), horizon));
    for horizon in [30_000, 300_000, 3_000_000] {
        let bytes = on_disk(horizon);
        // "About": arrays that grow double, and with so small a budget that shows.
        assert!(4 * bytes < 5 * budget, "{bytes} bytes for {horizon} rounds");
    }
}
