//! Algorithm 1 with its past on disk: the same bits, little memory, clear errors, and a kill at any row costs nothing.

use super::replay_common::*;
use std::path::{Path, PathBuf};

use rooco::draw::{Draw, Draws, Mixture, Reservoir};
use rooco::replay::Leftovers;
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row, Save};

/// The least that the store takes: many small blocks, cut again and again.
const TINY: usize = 64 << 10;

/// A name for a directory that is not there.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("rooco-test-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn on_disk(horizon: u64, seed: u64, directory: &Path, memory: usize) -> Reservoir {
    Reservoir::on_disk(horizon, Draws::seeded(seed), directory, memory).unwrap()
}

#[test]
fn rows_on_disk_are_replayed_as_by_the_naive_reservoir() {
    let directory = directory("same");
    for kind in KINDS {
        for (horizon, seeds, memory) in
            [(1, 3, TINY), (2, 10, TINY), (3, 10, TINY), (10, 10, TINY), (1000, 5, TINY), (20_000, 2, TINY), (20_000, 1, 1 << 20)]
        {
            for seed in 0..seeds {
                let naive = hash(Reservoir::new(horizon, Draws::seeded(seed)).unwrap(), kind, seed, horizon);
                let disk = hash(on_disk(horizon, seed, &directory, memory), kind, seed, horizon);
                assert_eq!(naive, disk, "{kind:?} T = {horizon} seed {seed}");
                assert!(!directory.exists());
            }
        }
        let (seed, horizon) = (7, 5000);
        let naive = hash(Mixture::new(horizon, Draws::seeded(seed)).unwrap(), kind, seed, horizon);
        let disk = hash(Mixture::on_disk(horizon, Draws::seeded(seed), &directory, TINY).unwrap(), kind, seed, horizon);
        assert_eq!(naive, disk, "mixture {kind:?}");
    }
}

#[test]
fn also_for_a_hundred_thousand_rows_with_much_and_little_memory() {
    let (horizon, directory) = (100_000, directory("long"));
    let naive = hash(Reservoir::new(horizon, Draws::seeded(1)).unwrap(), Kind::Dense, 1, horizon);
    for memory in [TINY, 1 << 20, 64 << 20] {
        assert_eq!(naive, hash(on_disk(horizon, 1, &directory, memory), Kind::Dense, 1, horizon), "{memory} bytes");
    }
}

/// The files as a kill at this moment would leave them.
fn killed(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_kill_at_any_row_after_any_checkpoint_changes_no_bit() {
    let (horizon, seed) = (6000, 3);
    let (first_directory, second_directory) = (directory("first"), directory("second"));
    let mut random = Random::new(12, Purpose::Test);
    for kind in KINDS {
        let mut rows = MadeRows::new(kind, seed);
        let whole = run(&mut learner(Reservoir::new(horizon, Draws::seeded(seed)).unwrap()), &mut rows, 1, horizon, 0).unwrap();
        for _ in 0..6 {
            let mut first = learner(on_disk(horizon, seed, &first_directory, TINY));
            let (mut t, mut hash) = (0, 0);
            let (mut saved, mut saved_t, mut saved_hash) = (first.save(), 0, 0);
            while t < horizon {
                // Some rounds, perhaps a checkpoint, some rounds, and perhaps a kill.
                let stop = (t + 1 + random.below(1500)).min(horizon);
                hash = run(&mut first, &mut rows, t + 1, stop, hash).unwrap();
                t = stop;
                if random.below(2) == 0 {
                    first.checkpoint().unwrap();
                    (saved, saved_t, saved_hash) = (first.save(), t, hash);
                    first.checkpointed().unwrap();
                }
                if random.below(3) == 0 {
                    killed(&first_directory, &second_directory);
                    let mut second = learner(on_disk(horizon, seed, &second_directory, TINY));
                    if saved_t > 0 {
                        second.load(&saved).unwrap();
                    }
                    assert_eq!(
                        run(&mut second, &mut rows, saved_t + 1, horizon, saved_hash).unwrap(),
                        whole,
                        "{kind:?} resumed after {saved_t}, killed after {t}"
                    );
                    drop(second);
                    // The rows of a checkpoint stay until whoever made it says that they may go.
                    Leftovers::of(&second_directory).clear();
                    assert!(!second_directory.exists());
                }
            }
            assert_eq!(hash, whole);
        }
    }
}

/// Without a checkpoint call the state carries what is not in the files yet.
#[test]
fn a_state_saved_without_a_checkpoint_is_complete_too() {
    let (horizon, seed) = (3000, 5);
    let (first_directory, second_directory) = (directory("plain-first"), directory("plain-second"));
    let mut rows = MadeRows::new(Kind::Mixed, seed);
    let mut first = learner(on_disk(horizon, seed, &first_directory, TINY));
    let hash = run(&mut first, &mut rows, 1, 1700, 0).unwrap();
    let saved = first.save();
    killed(&first_directory, &second_directory);
    let whole = run(&mut first, &mut rows, 1701, horizon, hash).unwrap();
    let mut second = learner(on_disk(horizon, seed, &second_directory, TINY));
    second.load(&saved).unwrap();
    assert_eq!(run(&mut second, &mut rows, 1701, horizon, hash).unwrap(), whole);
}

#[test]
fn memory_stays_within_the_budget_when_rows_grow_longer() {
    let (horizon, directory) = (3000, directory("longer"));
    let mut draw = on_disk(horizon, 1, &directory, TINY);
    let value = vec![1.0; 200];
    for t in 1..=horizon {
        let z = Row::dense(&value[..if t < 20 { 1 } else { 200 }], t as f64);
        if let rooco::draw::Drawn::One { j, z } = draw.draw(t, z).unwrap() {
            assert_eq!(z.y, j as f64);
        }
        draw.keep(t, z).unwrap();
        // Three quarters of the budget are for rows; 1624 bytes each, but for the first ones.
        assert!(draw.live_rows() <= TINY / 4 * 3 / 1600 + 21, "{} rows in round {t}", draw.live_rows());
    }
}

#[test]
fn the_directory_goes_with_the_store_but_not_while_a_checkpoint_needs_it() {
    let directory = directory("removed");
    let mut rows = MadeRows::new(Kind::Dense, 1);
    // Dropped halfway, without a checkpoint: nobody can go on, so nothing stays.
    let mut learner_1 = learner(on_disk(20_000, 1, &directory, TINY));
    run(&mut learner_1, &mut rows, 1, 10_000, 0).unwrap();
    assert!(std::fs::read_dir(&directory).unwrap().count() > 2);
    drop(learner_1);
    assert!(!directory.exists());
    // A store that never got a row removes nothing that was there before.
    let mut learner_2 = learner(on_disk(20_000, 1, &directory, TINY));
    run(&mut learner_2, &mut rows, 1, 10_000, 0).unwrap();
    learner_2.checkpoint().unwrap();
    learner_2.checkpointed().unwrap();
    drop(learner_2);
    let files = || std::fs::read_dir(&directory).unwrap().count();
    let before = files();
    drop(on_disk(20_000, 1, &directory, TINY));
    assert_eq!(files(), before);
    // With a checkpoint the files stay, until a run has finished and saved what it learned.
    let mut learner_2 = learner(on_disk(20_000, 1, &directory, TINY));
    run(&mut learner_2, &mut rows, 1, 10_000, 0).unwrap();
    learner_2.checkpoint().unwrap();
    let saved = learner_2.save();
    learner_2.checkpointed().unwrap();
    drop(learner_2);
    let mut learner_3 = learner(on_disk(20_000, 1, &directory, TINY));
    learner_3.load(&saved).unwrap();
    std::fs::write(directory.join("notes.txt"), "mine").unwrap();
    run(&mut learner_3, &mut rows, 10_001, 20_000, 0).unwrap();
    drop(learner_3);
    assert!(files() > 2);
    Leftovers::of(&directory).clear();
    // The files of others are left alone.
    let left: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Runs until something fails, and gives the message.
fn failure(directory: &Path, spoil: impl Fn(&Path)) -> String {
    let horizon = 20_000;
    let mut rows = MadeRows::new(Kind::Dense, 1);
    let mut learner = learner(on_disk(horizon, 1, directory, TINY));
    run(&mut learner, &mut rows, 1, horizon / 2, 0).unwrap();
    spoil(directory);
    let error = run(&mut learner, &mut rows, horizon / 2 + 1, horizon, 0).unwrap_err().to_string();
    // It does not get better by asking again.
    let t = learner.rounds() + 1;
    assert!(run(&mut learner, &mut rows, t, horizon, 0).is_err());
    error
}

/// The file of rows that is read last, so that the pass surely comes to it.
fn last_rows(directory: &Path) -> PathBuf {
    let start = |p: &PathBuf| p.file_stem().unwrap().to_str().unwrap().rsplit('-').next().unwrap().parse::<u64>().unwrap_or(0);
    let files = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path());
    files.filter(|p| p.file_name().unwrap().to_str().unwrap().starts_with("rows-")).max_by_key(start).unwrap()
}

#[test]
fn failures_of_the_disk_are_clear_errors() {
    let directory = directory("failures");
    let error = failure(&directory, |d| std::fs::remove_dir_all(d).unwrap());
    assert!(error.contains(directory.to_str().unwrap()) && error.contains("removed"), "{error}");
    let error = failure(&directory, |d| {
        let path = last_rows(d);
        let length = path.metadata().unwrap().len();
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length - 100).unwrap();
    });
    assert!(error.contains("rows-") && error.contains("bytes were written to it"), "{error}");
    let error = failure(&directory, |d| {
        let path = last_rows(d);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
    });
    assert!(error.contains("does not hold what was written"), "{error}");
    let error = failure(&directory, |d| std::fs::remove_file(last_rows(d)).unwrap());
    assert!(error.contains("removed"), "{error}");
}

/// Every write to `/dev/full` fails as on a disk without room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_clear_error() {
    let error = failure(&directory("full"), |d| {
        for entry in std::fs::read_dir(d).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with("rows-") {
                std::fs::remove_file(&path).unwrap();
                std::os::unix::fs::symlink("/dev/full", &path).unwrap();
            }
        }
    });
    assert!(error.contains("rows-") && error.contains("No space left") && error.contains("more room"), "{error}");
}

#[test]
fn a_directory_that_cannot_be_used_is_refused_at_once() {
    let path = directory("refused");
    std::fs::write(&path, "a file").unwrap();
    let error = |directory: &Path, memory| Reservoir::on_disk(10, Draws::seeded(1), directory, memory).err().unwrap().to_string();
    assert!(error(&path, TINY).contains("refused"), "{}", error(&path, TINY));
    assert!(error(&path.join("below"), TINY).contains("refused"));
    std::fs::remove_file(&path).unwrap();
    let first = on_disk(10, 1, &path, TINY);
    assert!(error(&path, TINY).contains("another run"), "{}", error(&path, TINY));
    drop(first);
    assert!(error(&path, 100).contains("at least"));
    assert!(!path.exists());
}

#[test]
fn a_checkpoint_whose_files_are_gone_or_cut_is_refused() {
    let path = directory("lost");
    let mut rows = MadeRows::new(Kind::Dense, 1);
    let mut first = learner(on_disk(20_000, 1, &path, TINY));
    run(&mut first, &mut rows, 1, 10_000, 0).unwrap();
    first.checkpoint().unwrap();
    let saved = first.save();
    first.checkpointed().unwrap();
    drop(first);
    let file = last_rows(&path);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let error = learner(on_disk(20_000, 1, &path, TINY)).load(&saved).unwrap_err().to_string();
    assert!(error.contains("the checkpoint needs"), "{error}");
    std::fs::remove_dir_all(&path).unwrap();
    let error = learner(on_disk(20_000, 1, &path, TINY)).load(&saved).unwrap_err().to_string();
    assert!(error.contains("checkpoint"), "{error}");
    let _ = std::fs::remove_dir_all(&path);
}
