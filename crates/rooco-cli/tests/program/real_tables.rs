//! Tables as people have them: what made new users give up, item by item.

use super::common::*;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use tempfile::tempdir;

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().last().expect("a line")).expect("JSON")
}

/// A linear model: its features are those of the table.
fn fit(d: &Path, args: &[&str]) -> Value {
    json(&ok(d, &[&["fit"], args, &["--features", "linear", "--json", "--quiet"]].concat()))
}

/// The rows of `table`, a line at a time, with something done to each.
fn rows(n: usize, classes: bool, header: &str, mut line: impl FnMut(usize, &[&str]) -> String) -> String {
    let text = table(n, classes, 3);
    let mut out = format!("{header}\n");
    for (k, row) in text.lines().skip(1).enumerate() {
        let fields: Vec<&str> = row.split(',').collect();
        writeln!(out, "{}", line(k, &fields)).unwrap();
    }
    out
}

/// The loss with this column spoiled stays near that of the clean table.
fn spoiled(d: &Path, n: usize, spoil: impl Fn(usize, &str) -> String) -> (Value, String) {
    write(d, "clean.csv", &rows(n, false, "y,a,b,c", |_, f| format!("{},{},{},{}", f[0], f[1], f[2], f[3])));
    write(d, "odd.csv", &rows(n, false, "y,a,b,c", |k, f| format!("{},\"{}\",{},{}", f[0], spoil(k, f[1]), f[2], f[3])));
    let clean = fit(d, &["clean.csv", "--target", "y"]);
    let out = run(d, &["fit", "odd.csv", "--target", "y", "--features", "linear", "--json", "--quiet"]);
    let talk = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(0), "{talk}");
    let odd = json(&String::from_utf8(out.stdout).unwrap());
    // A feature for missing values, where there are ten of them among the first rows.
    let more = odd["features"].as_u64().unwrap() - clean["features"].as_u64().unwrap();
    assert!(more <= 1 && (more == 1) == odd["columns"].to_string().contains("a.missing"), "{odd}");
    assert!(
        odd["progressive_loss"].as_f64().unwrap() < 1.1 * clean["progressive_loss"].as_f64().unwrap() + 0.04,
        "{odd} {clean}"
    );
    (odd, talk)
}

/// One `unknown` in row 4 gave 1,517 features instead of 3, and a loss of 0.507 instead of 0.069, without a word.
#[test]
fn a_word_among_numbers_is_a_missing_number_and_is_named() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let (_, talk) = spoiled(d, 3000, |k, v| if k == 3 { "unknown".into() } else { v.into() });
    assert!(talk.contains("column `a`") && talk.contains("`unknown` in line 5") && talk.contains("taken as missing"), "{talk}");
    for mark in ["?", "-", "inf"] {
        let (_, talk) = spoiled(d, 3000, |k, v| if k % 100 == 4 { mark.into() } else { v.into() });
        assert!(talk.contains(&format!("`{mark}` 30 times, first in line 6")), "{talk}");
    }
    // A word that the first rows do not show.
    let (_, talk) = spoiled(d, 3000, |k, v| if k == 2500 { "oops".into() } else { v.into() });
    assert!(talk.contains("`oops` in line 2502"), "{talk}");
    // The model says so, too, and so does a run that must not have any.
    ok(d, &["fit", "odd.csv", "--target", "y", "-m", "m"]);
    assert!(ok(d, &["show", "m"]).contains("1 numbers, taken as the column's mean in the first rows: `a` 1"));
    let message = error(d, &["fit", "odd.csv", "--target", "y", "--missing", "error"]);
    assert!(message.contains("odd.csv:2502:") && message.contains("`oops` in column `a`"), "{message}");
    // Too many are an error that names them.
    write(
        d,
        "late.csv",
        &rows(3000, false, "y,a,b,c", |k, f| format!("{},{},{},{}", f[0], if k < 2000 { f[1] } else { "much" }, f[2], f[3])),
    );
    let message = error(d, &["fit", "late.csv", "--target", "y"]);
    assert!(message.contains("column `a` are no finite numbers (`much`), more than 1 in 20"), "{message}");
}

#[test]
fn decimal_commas_and_money_are_numbers() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    spoiled(d, 2000, |_, v| v.replace('.', ","));
    spoiled(d, 2000, |_, v| if v.starts_with('-') { v.replace('-', "-$") } else { format!("${v}") });
    write(d, "semi.csv", &rows(2000, false, "y;a;b;c", |_, f| f[..4].join(";").replace('.', ",")));
    let s = fit(d, &["semi.csv", "--target", "y", "--loss", "squared"]);
    assert_eq!(s["features"], 4, "a target with a decimal comma is a number, too: {s}");
    // No value that is read is odd, and the range of those without a comma is not that of the column; a word is.
    let commas = |k: usize, word: &str| format!("0,{:03};{};{}", 100 + k * 7 % 900, k % 5, if k == 7 { word } else { "2,5" });
    for (word, odd) in [("1", 0), ("much", 1)] {
        let text: String = (0..1500).map(|k| commas(k, word) + "\n").collect();
        write(d, "zero.csv", &format!("y;a;b\n{text}"));
        let look = json(&ok(d, &["inspect", "zero.csv", "--target", "y", "--json"]));
        let b = &look["columns"][2];
        assert!(b["role"] == "number" && b["odd_count"] == odd && b["range"].is_null(), "{b}");
        assert_eq!(b["odd"].as_array().unwrap().len() as u64, odd, "{b}");
        let (shown, said) = (ok(d, &["inspect", "zero.csv", "--target", "y"]), format!("1 odd values: `{word}` in line 9"));
        assert_eq!(shown.contains(&said), odd == 1, "{shown}");
        // 0,107 is less than one: no mark between groups of digits.
        let s = fit(d, &["zero.csv", "--target", "y", "--loss", "squared"]);
        assert!(s["progressive_loss"].as_f64().unwrap() < 1500.0, "{s}");
    }
}

#[test]
fn ids_dates_and_constants_are_told_by_their_looks() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    // y follows the month.
    let text = rows(4000, false, ",y,uid,when,a,same,code", |k, f| {
        let (month, day) = (1 + k * 7 % 12, 1 + k * 5 % 28);
        let y: f64 = f[0].parse::<f64>().unwrap() + if month > 6 { 5.0 } else { 0.0 };
        format!("{k},{y},u{:08x},2023-{month:02}-{day:02}T{:02}:30:00,{},7,{}", k * 7919, k % 24, f[1], k % 5)
    });
    write(d, "t.csv", &text);
    let s = ok(d, &["fit", "t.csv", "--target", "y", "--features", "linear", "-m", "m"]);
    let line = |name: &str| s.lines().find(|l| l.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {s}")).to_owned();
    assert!(
        line("left out").contains("`1` (looks like an id: it counts the rows)") || line("left out").contains("counts the rows"),
        "{s}"
    );
    assert!(line("left out").contains("`uid` (looks like an id: its values hardly repeat)"), "{s}");
    let shown: Value = serde_json::from_str(&ok(d, &["show", "m", "--json", "--top", "0"])).unwrap();
    let names: Vec<&str> = shown["weights"].as_array().unwrap().iter().map(|w| w["feature"].as_str().unwrap()).collect();
    for name in ["when.days", "when.year", "when.month=01", "when.weekday=Monday", "when.hour=23", "code=4", "a", "same"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    assert_eq!(names.len(), 1 + 4 + 12 + 7 + 24 + 5, "{names:?}");
    let eval = json(&ok(d, &["eval", "m", "t.csv", "--json"]));
    assert!(eval["r2"].as_f64().unwrap() > 0.85, "the month is seen: {eval}");
    let look = json(&ok(d, &["inspect", "t.csv", "--target", "y", "--json"]));
    let why = |name: &str| {
        let all = look["columns"].as_array().unwrap();
        let column = all.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("{look}"));
        format!("{}: {}", column["role"].as_str().unwrap(), column["why"].as_str().unwrap())
    };
    assert_eq!(why("uid"), "drop: looks like an id: its values hardly repeat");
    assert_eq!(why("when"), "date: dates");
    assert_eq!(why("code"), "categories: integers with 5 values: taken as codes");
    assert!(why("same").starts_with("number: the same in all rows looked at"));
}

/// What `inspect --write` makes is what `fit` would do anyway; a corrected line is obeyed, and a wrong one has its place.
#[test]
fn a_schema_file_goes_from_inspect_to_fit_and_predict() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.csv", &rows(2000, true, "y,a,b,code", |k, f| format!("{},{},{},{}", f[0], f[1], f[2], k % 4)));
    let text = ok(d, &["inspect", "t.csv", "--target", "y", "--write", "s.toml"]);
    assert!(text.contains("`yes` is the positive class") && text.contains("2,000 rows"), "{text}");
    ok(d, &["fit", "t.csv", "--target", "y", "--features", "linear", "-m", "a"]);
    ok(d, &["fit", "t.csv", "--schema", "s.toml", "--features", "linear", "-m", "b"]);
    let weights = |m: &str| ok(d, &["show", m, "--json", "--top", "0"]).split("\"weights\"").last().unwrap().to_owned();
    assert_eq!(weights("a"), weights("b"));
    let schema = std::fs::read_to_string(d.join("s.toml")).unwrap();
    assert!(schema.contains("classes = [\"no\", \"yes\"]   # the last is the positive one"), "{schema}");
    write(d, "n.toml", &schema.replace("code = \"categories\"", "code = \"number\""));
    let s = fit(d, &["t.csv", "--schema", "n.toml", "-m", "c"]);
    assert_eq!(s["features"], 4, "{s}");
    ok(d, &["predict", "c", "t.csv", "--schema", "n.toml"]);
    let message = error(d, &["predict", "c", "t.csv", "--schema", "s.toml"]);
    assert!(message.contains("column `code` is `categories` there, and for the model number"), "{message}");
    write(d, "w.toml", &schema.replace("\"categories\"", "\"category\""));
    let message = error(d, &["fit", "t.csv", "--schema", "w.toml"]);
    assert!(message.contains("w.toml:") && message.contains("column `code` cannot be `category`"), "{message}");
}

/// A rare positive class that the first 1000 rows do not show could not be learned, not even with --shuffle.
#[test]
fn rare_and_late_classes_are_found() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let label = |k: usize| if k >= 3900 { "fraud" } else { "fine" };
    let text = rows(4000, true, "y,a,b", |k, f| format!("{},{},{}", label(k), f[1], f[2]));
    write(d, "late.csv", &text);
    let s = fit(d, &["late.csv", "--target", "y", "--shuffle", "-m", "m"]);
    assert_eq!(s["classes"], serde_json::json!(["fine", "fraud"]), "{s}");
    let three = rows(4000, true, "y,a,b", |k, f| format!("{},{},{}", if k == 3999 { "new" } else { f[0] }, f[1], f[2]));
    write(d, "three.csv", &three);
    let s = fit(d, &["three.csv", "--target", "y"]);
    assert_eq!((&s["classes"], &s["loss"]["base"]), (&serde_json::json!(["new", "no", "yes"]), &"softmax:3".into()), "{s}");
    // A pipe cannot be read twice: it must be told.
    ok_with_input(d, &["fit", "-", "--format", "csv", "--target", "y", "--classes", "fine,fraud", "--quiet"], text.as_bytes());
    let out =
        ok_with_input(d, &["fit", "-", "--format", "csv", "--target", "y", "--positive", "fraud", "--quiet"], text.as_bytes());
    assert!(out.contains("`y`: `fraud` is the positive class, everything else the other"), "{out}");
    // Which class is the positive one is said, and can be turned round.
    write(d, "c.csv", &table(2000, true, 1));
    let out = ok(d, &["fit", "c.csv", "--target", "y", "--drop", "w", "-m", "m"]);
    assert!(out.contains("`y`: `yes` is the positive class, `no` the other"), "{out}");
    let p: f64 = ok(d, &["predict", "m", "c.csv"]).lines().next().unwrap().parse().unwrap();
    ok(d, &["fit", "c.csv", "--target", "y", "--drop", "w", "--classes", "yes,no", "-m", "turned"]);
    let q: f64 = ok(d, &["predict", "turned", "c.csv"]).lines().next().unwrap().parse().unwrap();
    assert!((p + q - 1.0).abs() < 0.02, "{p} {q}");
    let message = error(d, &["fit", "c.csv", "--target", "y", "--classes", "yes,maybe"]);
    assert!(message.contains("`no` is none of the classes `yes`, `maybe`"), "{message}");
}

#[test]
fn predictions_are_a_table_that_can_be_joined() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.csv", &rows(2000, true, "id,y,a,b", |k, f| format!("r{k},{},{},{}", f[0], f[1], f[2])));
    ok(d, &["fit", "t.csv", "--target", "y", "-m", "m"]);
    // A row with a field too few, one with a word, a quoted id.
    write(d, "new.csv", "id,a,b\n\"x,1\",0.5,0.25\nx2,0.5\nx3,oops,0.25\nx4,0.5,0.25\n");
    let out = run(d, &["predict", "m", "new.csv", "--keep", "id", "-o", "p.csv"]);
    let talk = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(0), "{talk}");
    assert!(
        talk.contains(
            "1 of 4 rows could not be read: their lines are empty; the first: new.csv:3:0: the row has 2 fields where 3"
        ),
        "{talk}"
    );
    assert!(talk.contains("column `a`") && talk.contains("`oops` in line 4"), "{talk}");
    let lines: Vec<String> = std::fs::read_to_string(d.join("p.csv")).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "id,prediction,p_no,p_yes,problem");
    assert!(lines[1].starts_with("\"x,1\",yes,0.") && lines[4].starts_with("x4,yes,0."), "{lines:?}");
    assert_eq!(lines[1].split(',').skip(2).collect::<Vec<_>>(), lines[4].split(',').skip(1).collect::<Vec<_>>());
    assert!(lines[2].starts_with("x2,,,,new.csv:3:0: the row has 2 fields"), "{lines:?}");
    // The same as JSON lines, as Parquet, on standard output, and as bare numbers: always a line for every row.
    ok(d, &["predict", "m", "new.csv", "--keep", "id", "-o", "p.jsonl"]);
    let second: Value =
        serde_json::from_str(std::fs::read_to_string(d.join("p.jsonl")).unwrap().lines().nth(1).unwrap()).unwrap();
    assert_eq!((&second["id"], &second["prediction"]), (&"x2".into(), &Value::Null));
    ok(d, &["predict", "m", "new.csv", "--keep", "id", "-o", "p.parquet"]);
    let again = ok(d, &["inspect", "p.parquet", "--json"]);
    assert_eq!(json(&again)["rows"], 4);
    assert_eq!(json(&again)["columns"].as_array().unwrap().len(), 5);
    assert_eq!(ok(d, &["predict", "m", "new.csv", "--keep", "id"]).lines().count(), 5);
    let bare = ok(d, &["predict", "m", "new.csv"]);
    assert_eq!((bare.lines().count(), bare.lines().nth(1)), (4, Some("")));
    // A mistake in a name leaves what was there.
    let message = error(d, &["predict", "m", "new.csv", "--keep", "idd", "-o", "p.csv"]);
    assert!(message.contains("there is no column `idd`; did you mean `id`?"), "{message}");
    let message = error(d, &["predict", "m", "new.csv", "-o", "p.xls"]);
    assert!(message.contains(".csv, .tsv, .jsonl or .parquet"), "{message}");
    // The model knows what missing values mean.
    let message = error(d, &["predict", "m", "new.csv", "--missing", "zero"]);
    assert!(message.contains("--missing") && message.contains("leave it out"), "{message}");
    // Tags of Vowpal Wabbit files come along.
    write(d, "t.vw", rows(300, false, "", |k, f| format!("{} 1 'tag{k}| a:{} b:{}", f[0], f[1], f[2])).trim_start());
    ok(d, &["fit", "t.vw", "-m", "v"]);
    let tags = ok(d, &["predict", "v", "t.vw", "-o", "-"]);
    assert!(tags.starts_with("tag,prediction,problem\ntag0,"), "{tags}");
}

/// `vw -i`: tomorrow's file with yesterday's model gives what one run over both gives.
#[test]
fn learning_goes_on_from_a_model() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let line = |k: usize, f: &[&str]| {
        format!(
            "{},{},{},{}",
            f[0],
            if k % 50 == 7 { "" } else { f[1] },
            f[2],
            ["red", "green", "blue"][if k < 1500 { k % 2 } else { k % 3 }]
        )
    };
    let both = rows(4000, false, "y,a,b,c", line);
    let all: Vec<&str> = both.lines().collect();
    let part = |lines: &[&str]| format!("y,a,b,c\n{}\n", lines.join("\n"));
    write(d, "today.csv", &part(&all[1..2501]));
    write(d, "tomorrow.csv", &part(&all[2501..]));
    for more in [
        &["--holdout", "0.1"][..],
        &["--features", "linear"],
        &["--algorithm", "sgd", "--domain", "ball:9", "--l2", "0.01"],
        &["--loss", "huber:1", "--missing", "mean"],
    ] {
        ok(d, &[&["fit", "today.csv", "--target", "y", "-m", "m", "--with-state"], more].concat());
        let out = ok(d, &["fit", "--from", "m", "tomorrow.csv", "-m", "m2"]);
        assert!(out.contains("go on with rooco fit --from m2 MORE"), "{out}");
        ok(d, &[&["fit", "today.csv", "tomorrow.csv", "--target", "y", "-m", "one", "--with-state"], more].concat());
        assert!(std::fs::read(d.join("m2")).unwrap() == std::fs::read(d.join("one")).unwrap(), "{more:?}");
    }
    ok(d, &["fit", "today.csv", "--target", "y", "-m", "bare"]);
    let message = error(d, &["fit", "--from", "bare", "tomorrow.csv", "-m", "m2"]);
    assert!(message.contains("carries no state") && message.contains("--with-state"), "{message}");
    let message = error(d, &["fit", "--from", "m", "tomorrow.csv", "--target", "y", "--categorical", "c"]);
    assert!(message.contains("the model knows"), "{message}");
    let message = error(
        d,
        &["fit", "today.csv", "--target", "y", "--algorithm", "reservoir-sgd", "--domain", "ball:3", "-m", "x", "--with-state"],
    );
    assert!(message.contains("built for its number of rows"), "{message}");
}

/// A checkpoint with another file exits 0 no more.
#[test]
fn a_checkpoint_refuses_other_data() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "one.svm", &libsvm(3000, 1));
    write(d, "two.svm", &libsvm(8000, 2));
    ok(d, &["fit", "one.svm", "--checkpoint", "ck", "--every", "1000"]);
    let message = error(d, &["fit", "two.svm", "--resume", "ck"]);
    assert!(message.contains("are not those that it was made from"), "{message}");
}

#[test]
fn json_lines_are_read_like_csv() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.csv", &rows(1500, true, "a,b,c,y", |k, f| format!("{},{},{},{}", f[1], f[2], k % 5, f[0])));
    let lines =
        rows(1500, true, "", |k, f| format!("{{\"a\": {}, \"b\": {}, \"c\": {}, \"y\": \"{}\"}}", f[1], f[2], k % 5, f[0]));
    write(d, "t.jsonl", lines.trim_start());
    let (a, b) = (fit(d, &["t.csv", "--target", "y"]), fit(d, &["t.jsonl", "--target", "y"]));
    assert_eq!((&a["progressive_loss"], &a["checksum"]), (&b["progressive_loss"], &b["checksum"]));
    write(d, "bad.jsonl", &format!("{}{{\"a\": 1,\n", lines.trim_start()));
    let message = error(d, &["fit", "bad.jsonl", "--target", "y"]);
    assert!(message.contains("bad.jsonl:1501:") && message.contains("no JSON object"), "{message}");
}

#[test]
fn words_of_a_text_are_features_when_asked() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = rows(3000, true, "y,note", |k, f| {
        let word = if f[0] == "yes" { "good" } else { "bad" };
        format!("{},\"number {k}: a {word} day, it was not {}\"", f[0], ["long", "short"][k % 2])
    });
    write(d, "t.csv", &text);
    let message = error(d, &["fit", "t.csv", "--target", "y"]);
    assert!(message.contains("`note` looks like text: left out unless its words are asked for"), "{message}");
    let s = fit(d, &["t.csv", "--target", "y", "--text", "note", "-m", "m"]);
    assert!(s["progressive_loss"].as_f64().unwrap() < 0.1, "{s}");
    let pairs = fit(d, &["t.csv", "--target", "y", "--text", "note:2"]);
    assert!(pairs["features"].as_u64() > s["features"].as_u64(), "{pairs}");
    let shown = ok(d, &["show", "m"]);
    assert!(shown.contains("note=good") && shown.contains("1 text with "), "{shown}");
}

/// The census file as it is, no options but its target.
#[test]
fn the_census_codes_are_categories() {
    let dir = tempdir().unwrap();
    let census = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/acs-employment-ma.csv.gz");
    let args = ["fit", census.to_str().unwrap(), "--target", "employed", "--holdout", "0.25", "--json", "--quiet"];
    for more in [&[][..], &["--features", "linear"]] {
        let s = json(&ok(dir.path(), &[&args[..], more].concat()));
        assert!(s["holdout"]["loss"].as_f64().unwrap() <= 0.400, "{s}");
    }
}

/// The lines that matter: from what, how good, what is promised in one line, where to look next; the offset of a regression is shown.
#[test]
fn the_summary_is_short_and_explains_when_asked() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.csv", &table(1500, false, 1));
    let args = ["fit", "r.csv", "--target", "y", "--drop", "w", "--features", "linear", "-m", "m"];
    let short = ok(d, &args);
    let promised = short.lines().find(|l| l.starts_with("promised")).unwrap();
    assert!(promised.contains("nothing: no theorem covers the default rule (--explain says more)"), "{short}");
    assert!(short.contains("rooco predict m NEW"), "{short}");
    let long = ok(d, &[&args[..], &["--explain"]].concat());
    assert!(long.contains("--certify") && long.contains("--guarantee"), "{long}");
    let shown: Value = serde_json::from_str(&ok(d, &["show", "m", "--json"])).unwrap();
    let offset = shown["offset"][0].as_f64().unwrap();
    assert_eq!(ok(d, &["show", "m"]).contains("(offset)"), offset != 0.0);
}

/// Counts, amounts and quantiles: the default learns each, predictions are means or quantiles, and wrong targets are refused.
#[test]
fn losses_for_counts_amounts_and_quantiles() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let mut random = rooco::rng::Random::new(5, rooco::rng::Purpose::Test);
    let mut text = String::from("count,amount,rain,y,a,b\n");
    for _ in 0..6000 {
        let (a, b) = (random.normal(), random.normal());
        let mean: f64 = (1.0 + 0.5 * a - 0.3 * b).exp();
        // Knuth's way to a Poisson number.
        let (mut count, mut product) = (0, random.uniform());
        while product > (-mean).exp() {
            count += 1;
            product *= random.uniform();
        }
        // A gamma number of shape 1 is -log u; rain: none on some days.
        let amount = -mean * random.uniform().max(1e-12).ln();
        let rain = if random.uniform() < 0.3 { 0.0 } else { amount };
        writeln!(text, "{count},{amount},{rain},{},{a},{b}", 100.0 + 10.0 * a + 5.0 * random.normal()).unwrap();
    }
    write(d, "t.csv", &text);
    let weights = |target: &str, loss: &str| -> (f64, f64) {
        let others: Vec<&str> = ["count", "amount", "rain", "y"].into_iter().filter(|t| *t != target).collect();
        let s = fit(d, &["t.csv", "--target", target, "--drop", &others.join(","), "--loss", loss, "-m", "m"]);
        assert!(s["progressive_loss"].as_f64().unwrap().is_finite(), "{s}");
        let shown: Value = serde_json::from_str(&ok(d, &["show", "m", "--json", "--top", "0"])).unwrap();
        let of = |name: &str| {
            let all = shown["weights"].as_array().unwrap();
            all.iter().find(|w| w["feature"] == name).unwrap()["weights"][0].as_f64().unwrap()
        };
        (of("a"), of("b"))
    };
    for (target, loss) in [("count", "poisson"), ("amount", "gamma"), ("rain", "tweedie:1.5"), ("rain", "poisson")] {
        let (a, b) = weights(target, loss);
        assert!((a - 0.5).abs() < 0.1 && (b + 0.3).abs() < 0.1, "{loss} of {target}: {a} {b}");
        let p: Vec<f64> = ok(d, &["predict", "m", "t.csv"]).lines().map(|l| l.parse().unwrap()).collect();
        assert!(p.iter().all(|p| *p > 0.0), "means are positive");
        let eval = json(&ok(d, &["eval", "m", "t.csv", "--json"]));
        assert!(eval["r2"].as_f64().unwrap() > 0.05, "{loss}: {eval}");
    }
    weights("y", "quantile:0.9");
    let targets: Vec<f64> = text.lines().skip(1).map(|l| l.split(',').nth(3).unwrap().parse().unwrap()).collect();
    let p: Vec<f64> = ok(d, &["predict", "m", "t.csv"]).lines().map(|l| l.parse().unwrap()).collect();
    let below = targets.iter().zip(&p).filter(|(y, p)| y < p).count() as f64 / 6000.0;
    assert!((below - 0.9).abs() < 0.03, "{below} of the targets are below the 0.9 quantile");
    assert!(ok(d, &["show", "m"]).contains("quantile 0.9, its corner rounded over 0.01"));
    let message = error(d, &["fit", "t.csv", "--target", "count", "--loss", "poisson", "--algorithm", "sgd"]);
    assert!(message.contains("smooth on bounded sets only"), "{message}");
    let bounded = ["fit", "t.csv", "--target", "count", "--drop", "amount,rain,y", "--loss", "poisson", "--algorithm", "sgd"];
    ok(d, &[&bounded[..], &["--domain", "ball:3"]].concat());
    let message = error(d, &["fit", "t.csv", "--target", "rain", "--loss", "gamma"]);
    assert!(message.contains("the target is 0, and the loss gamma needs targets above 0"), "{message}");
}

/// One year after the other, each in random order: only the days and the years themselves tell, for y and a are noise, and so are months and weekdays.
#[test]
fn rows_sorted_by_date_are_not_in_random_order() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    // splitmix64
    let hash = |k: &usize| {
        let z = (*k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let day = |k: usize| format!("{}-{:02}-{:02}", 2016 + k / 600, 1 + hash(&k) % 12, 1 + hash(&k) / 12 % 28);
    let german = |k: usize| day(k).split('-').rev().collect::<Vec<_>>().join(".");
    // The same days in the order of hashes.
    let mut places: Vec<usize> = (0..3600).collect();
    places.sort_by_key(hash);
    let mixed = |k: usize| day(places[k]);
    let log = |when: &dyn Fn(usize) -> String| {
        rows(3600, false, "y,when,a,b", |k, f| format!("{},{},{},{}", f[2], when(k), f[1], if k % 50 == 7 { "" } else { f[3] }))
    };
    let order = |name: &str| {
        let told = run(d, &["fit", name, "--target", "y", "--features", "linear", "-m", "m"]);
        let said = String::from_utf8_lossy(&told.stderr).contains("not in random order");
        let order = json(&ok(d, &["show", "m", "--json", "--top", "0"]))["about"]["order"].clone();
        assert_eq!(order["random"], !said, "{name}: {told:?}");
        (said, order["text"].as_str().unwrap().to_owned())
    };
    for (name, alarm, text) in [("sorted", true, log(&day)), ("german", true, log(&german)), ("mixed", false, log(&mixed))] {
        let name = format!("{name}.csv");
        write(d, &name, &text);
        let (said, text) = order(&name);
        assert_eq!(said, alarm, "{name}: {text}");
        // Only what has gaps is left out, and the sentence says so.
        assert!(
            text.ends_with(" (not looked at: the numbers in `b`, where missing ones are filled in from other rows)"),
            "{text}"
        );
    }
    // A word among the dates is a gap: its date is filled in.
    write(d, "gap.csv", &log(&|k| if k == 30 { "soon".into() } else { mixed(k) }));
    let (said, text) = order("gap.csv");
    assert!(!said && text.contains("the numbers in `b`, `when.days`, `when.year`, where"), "{text}");
}
