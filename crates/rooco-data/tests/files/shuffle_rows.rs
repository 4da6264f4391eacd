//! The rows of a stream in random order: each once, to the last bit, in an order that the seed alone decides.

use rooco::rng::{Purpose, Random};
use rooco::{Features, Result, Row};
use rooco_data::shuffle::{ShuffleOptions, ShuffledRows};
use rooco_data::stream::{Position, Schema, Stream};

/// Rows made on the fly: dense, sparse, empty.
struct Made {
    n: u64,
    t: u64,
    index: Vec<u32>,
    value: Vec<f64>,
    schema: Schema,
}

impl Stream for Made {
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        if self.t == self.n {
            return Ok(None);
        }
        let mut random = Random::stream(1, Purpose::Data, self.t);
        let length = random.below(6) as u32;
        self.index = (0..length).map(|k| 3 * k + 1).collect();
        self.value = (0..length).map(|_| random.normal()).collect();
        let (y, weight) = (self.t as f64, random.normal());
        self.t += 1;
        let dense = self.t.is_multiple_of(2);
        let x = if dense { Features::Dense(&self.value) } else { Features::Sparse { index: &self.index, value: &self.value } };
        Ok(Some(Row { x, y, weight }))
    }
    fn position(&self) -> Position {
        Position { rows: self.t, bytes: 7 * self.t, total_bytes: Some(7 * self.n) }
    }
    fn schema(&self) -> &Schema {
        &self.schema
    }
}

fn made(n: u64) -> Made {
    Made { n, t: 0, index: Vec::new(), value: Vec::new(), schema: Schema::default() }
}

fn all(stream: &mut dyn Stream) -> Vec<String> {
    let mut rows = Vec::new();
    while let Some(z) = stream.next().unwrap() {
        // The shortest text of a number that reads back as the same bits.
        rows.push(format!("{z:?}"));
    }
    rows
}

#[test]
fn each_row_once_in_an_order_of_the_seed() {
    let old = all(&mut made(2000));
    let mut expected: Option<Vec<String>> = None;
    for memory in [1 << 30, 20_000, 2000, 100] {
        let dir = tempfile::tempdir().unwrap();
        let how = ShuffleOptions { seed: 4, memory, temporary: Some(dir.path().to_path_buf()) };
        let mut watched = 0;
        let mut shuffled = ShuffledRows::watched(&mut made(2000), &how, |z| {
            assert_eq!(z.y, watched as f64);
            watched += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!((shuffled.rows(), watched), (2000, 2000));
        let new = all(&mut shuffled);
        assert_eq!(shuffled.position(), Position { rows: 2000, bytes: 14_000, total_bytes: Some(14_000) });
        assert!(shuffled.next().unwrap().is_none());
        assert_ne!(new, old);
        let sort = |rows: &[String]| {
            let mut rows = rows.to_vec();
            rows.sort();
            rows
        };
        assert_eq!(sort(&new), sort(&old));
        assert_eq!(expected.get_or_insert_with(|| new.clone()), &new);
        // Nothing is left behind, neither at the end nor when one stops early.
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let mut early = ShuffledRows::new(&mut made(2000), &how).unwrap();
        early.next().unwrap();
        drop(early);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_temporary_file_that_vanishes_or_changes_is_an_error() {
    for damage in ["remove", "cut"] {
        let dir = tempfile::tempdir().unwrap();
        let how = ShuffleOptions { seed: 4, memory: 20_000, temporary: Some(dir.path().to_path_buf()) };
        let mut shuffled = ShuffledRows::new(&mut made(5000), &how).unwrap();
        shuffled.next().unwrap();
        let scratch = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        for file in std::fs::read_dir(scratch).unwrap() {
            let file = file.unwrap().path();
            match damage {
                "remove" => std::fs::remove_file(file).unwrap(),
                _ => std::fs::write(file, b"other content").unwrap(),
            }
        }
        let error = loop {
            match shuffled.next() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("rows are missing and nobody says so"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.starts_with(&dir.path().display().to_string()), "{error}");
        drop(shuffled);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[test]
fn an_error_of_the_stream_or_of_the_watcher_is_passed_on() {
    let how = ShuffleOptions { memory: 5000, ..Default::default() };
    let stopped = ShuffledRows::watched(&mut made(5000), &how, |z| if z.y < 4000.0 { Ok(()) } else { Err(rooco::Error::Empty) });
    assert!(matches!(stopped, Err(rooco::Error::Empty)));
    assert_eq!(ShuffledRows::new(&mut made(0), &how).unwrap().rows(), 0);
}
