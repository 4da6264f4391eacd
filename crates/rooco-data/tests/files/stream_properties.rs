//! Random rows written as text are read back bit for bit; random bytes never panic; the CSV splitter agrees with the `csv` crate.

use proptest::prelude::*;
use rooco_data::stream::{Format, Input, ReadOptions, TargetKind, open};

/// (coordinate, bits) pairs, bits of y, bits of the weight.
type Bits = (Vec<(usize, u64)>, u64, u64);

fn rows(format: Format, bytes: Vec<u8>, options: ReadOptions) -> rooco::Result<Vec<Bits>> {
    let options = ReadOptions { format: Some(format), ahead: false, ..options };
    let mut stream = open(&[Input::bytes("x", bytes)], &options)?;
    let mut rows = Vec::new();
    while let Some(row) = stream.next()? {
        rows.push((row.x.iter().map(|(i, v)| (i, v.to_bits())).collect(), row.y.to_bits(), row.weight.to_bits()));
    }
    Ok(rows)
}

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("finite", |v| v.is_finite()), (-1000..1000i32).prop_map(|v| f64::from(v) / 8.0)]
}

/// A sparse row: feature numbers from 1 on, with values.
fn sparse() -> impl Strategy<Value = (f64, f64, std::collections::BTreeMap<u32, f64>)> {
    (finite(), finite(), prop::collection::btree_map(1..50_000u32, finite(), 0..8))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn libsvm_and_numbered_vw_come_back(data in prop::collection::vec(sparse(), 1..12)) {
        let numbers = ReadOptions { target_kind: TargetKind::Number, ..ReadOptions::default() };
        let (mut svm, mut vw) = (String::new(), String::new());
        for (y, weight, x) in &data {
            svm.push_str(&y.to_string());
            vw.push_str(&format!("{y} {weight:e} |"));
            for (i, v) in x {
                svm.push_str(&format!(" {i}:{v:e}"));
                vw.push_str(&format!(" {i}:{v}"));
            }
            svm.push('\n');
            vw.push('\n');
        }
        let expected = |weights: bool| data.iter().map(|(y, w, x)| {
            let x = [(0, 1f64.to_bits())].into_iter().chain(x.iter().map(|(&i, v)| (i as usize, v.to_bits()))).collect();
            (x, y.to_bits(), if weights { w.to_bits() } else { 1f64.to_bits() })
        }).collect::<Vec<_>>();
        prop_assert_eq!(rows(Format::Libsvm, svm.into_bytes(), numbers.clone()).unwrap(), expected(false));
        prop_assert_eq!(rows(Format::Vw, vw.into_bytes(), ReadOptions { numbered: Some(true), ..numbers }).unwrap(), expected(true));
    }

    #[test]
    fn csv_agrees_with_the_csv_crate(table in prop::collection::vec((finite(), "[a-c\",\n\r ']{0,6}x", finite()), 1..10)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["a", "text", "y"]).unwrap();
        for (a, text, y) in &table {
            writer.write_record([&a.to_string(), text, &y.to_string()]).unwrap();
        }
        let bytes = writer.into_inner().unwrap();
        let options = ReadOptions { target: Some("y".into()), target_kind: TargetKind::Number, intercept: false, ..ReadOptions::default() };
        let mut stream = open(&[Input::bytes("x.csv", bytes)], &options).unwrap();
        for (a, _, y) in &table {
            let row = stream.next().unwrap().unwrap();
            prop_assert_eq!(row.x.values()[0].to_bits(), a.to_bits());
            prop_assert_eq!(row.y.to_bits(), y.to_bits());
        }
        prop_assert!(stream.next().unwrap().is_none());
        let names: std::collections::BTreeSet<String> = (1..stream.schema().features()).map(|k| stream.schema().name(k)).collect();
        // Blanks at the ends of a value do not count.
        let ends = |t: &str| t.trim_matches(|c: char| c.is_ascii_whitespace()).to_owned();
        prop_assert_eq!(names, table.iter().map(|(_, t, _)| format!("text={}", ends(t))).collect());
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"0123456789.:|,\"\n\r -eE#'qidnaf\t".to_vec())], 0..300)) {
        let table = ReadOptions { target: Some("1".into()), ..ReadOptions::default() };
        for format in [Format::Libsvm, Format::Csv, Format::Tsv, Format::Vw] {
            let _ = rows(format, bytes.clone(), table.clone());
            let _ = rows(format, bytes.clone(), ReadOptions { header: Some(false), target_kind: TargetKind::Number, ..table.clone() });
        }
        let _ = open(&[Input::bytes("x", bytes)], &table).map(|mut s| while let Ok(Some(_)) = s.next() {});
    }
}
