//! `--interactions` of two namespaces of Vowpal Wabbit text: every feature of the one times every feature of the other.

use super::common::*;
use serde_json::Value;
use std::path::Path;
use tempfile::tempdir;

/// Rows of the namespaces `user` (with a weight of its own) and `item`, in which the score is that of the pair; and the same rows with products written out, those of
/// `user` and `item` or those within `item`.
fn rows(n: usize, seed: u64) -> [String; 3] {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let [mut plain, mut crossed, mut squared] = [const { String::new() }; 3];
    for t in 0..n {
        let (u, i) = ((uniform() * 4.0) as usize, (uniform() * 3.0) as usize);
        let (age, price) = (uniform(), 1.0 + uniform());
        let y = if (u + i) % 2 == 0 { 1.0 } else { -1.0 } + 0.1 * (uniform() - 0.5);
        let line = match t % 2 {
            0 => format!("{y} |user:0.5 u{u} age:{age} |item i{i} price:{price}"),
            // Another order, and a namespace in two pieces.
            _ => format!("{y} |item price:{price} |user:0.5 u{u} age:{age} |item i{i}"),
        };
        let users = [(format!("user^u{u}"), 0.5), ("user^age".into(), age * 0.5)];
        let mut items = [(format!("item^i{i}"), 1.0), ("item^price".to_owned(), price)];
        if t % 2 == 1 {
            items.reverse();
        }
        let product = |(a, x): &(String, f64), (b, z): &(String, f64)| format!(" {a}*{b}:{}", x * z);
        let pairs: String = users.iter().flat_map(|a| items.iter().map(move |b| product(a, b))).collect();
        let (first, second) = (&items[t % 2], &items[1 - t % 2]);
        let squares = [product(&items[0], &items[0]), product(first, second), product(&items[1], &items[1])].concat();
        plain += &format!("{line}\n");
        crossed += &format!("{line} |{pairs}\n");
        squared += &format!("{line} |{squares}\n");
    }
    [plain, crossed, squared]
}

/// The weights by name.
fn weights(d: &Path, model: &str) -> Value {
    let shown: Value = serde_json::from_str(&ok(d, &["show", model, "--json", "--top", "0"])).unwrap();
    shown["weights"].clone()
}

fn bytes(d: &Path, name: &str) -> Vec<u8> {
    std::fs::read(d.join(name)).unwrap()
}

#[test]
fn namespaces_are_crossed_as_if_the_products_were_in_the_file() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let ([plain, crossed, squared], [new, new_crossed, new_squared]) = (rows(3000, 1), rows(200, 2));
    // A user and an item that nobody has seen.
    let more = "0 |user u9 age:0.25 |item i1 price:2 old\n";
    let more_crossed = "0 |user u9 age:0.25 |item i1 price:2 old | user^age*item^i1:0.25 user^age*item^price:0.5\n";
    let more_squared =
        "0 |user u9 age:0.25 |item i1 price:2 old | item^i1*item^i1 item^i1*item^price:2 item^price*item^price:4\n";
    for (name, text) in [
        ("plain.vw", plain),
        ("crossed.vw", crossed),
        ("squared.vw", squared),
        ("new.vw", new + more),
        ("new-crossed.vw", new_crossed + more_crossed),
        ("new-squared.vw", new_squared + more_squared),
    ] {
        write(d, name, &text);
    }
    for (asked, by_hand, letters) in [("user:item", "crossed", "u:i"), ("item:item", "squared", "i:i")] {
        ok(d, &["fit", "plain.vw", "--interactions", asked, "-m", "asked", "--quiet"]);
        ok(d, &["fit", &format!("{by_hand}.vw"), "-m", "by-hand", "--quiet"]);
        assert_eq!(weights(d, "asked"), weights(d, "by-hand"));
        // The model knows its products: neither predict nor eval is told.
        let new_by_hand = format!("new-{by_hand}.vw");
        let predicted = ok(d, &["predict", "asked", "new.vw"]);
        assert_eq!(predicted, ok(d, &["predict", "by-hand", &new_by_hand]));
        assert_eq!(predicted.lines().count(), 201);
        let eval = |model: &str, data: &str| ok(d, &["eval", model, data, "--json"]);
        assert_eq!(eval("asked", "new.vw"), eval("by-hand", &new_by_hand));
        // A namespace by its first letter.
        ok(d, &["fit", "plain.vw", "--interactions", letters, "-m", "letters", "--quiet"]);
        assert!(bytes(d, "asked") == bytes(d, "letters"));
    }
    let loss = |more: &[&str]| {
        let s: Value = serde_json::from_str(&ok(d, &[&["fit", "plain.vw", "--json", "--quiet"], more].concat())).unwrap();
        s["progressive_loss"].as_f64().unwrap()
    };
    let (alone, together) = (loss(&[]), loss(&["--interactions", "user:item"]));
    assert!(together < 0.2 * alone, "{together} {alone}");
    // A pair in both orders is one pair; features of their own names are a pair as before.
    ok(d, &["fit", "plain.vw", "--interactions", "item:user,user:item", "-m", "twice", "--quiet"]);
    ok(d, &["fit", "plain.vw", "--interactions", "item:user", "-m", "once", "--quiet"]);
    assert!(bytes(d, "twice") == bytes(d, "once"));
    ok(d, &["fit", "plain.vw", "--interactions", "user^age:item^price", "--quiet"]);
}

#[test]
fn crossed_namespaces_go_on_from_a_checkpoint_and_from_a_model() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let [text, ..] = rows(4000, 3);
    write(d, "all.vw", &text);
    let lines: Vec<&str> = text.lines().collect();
    write(d, "one.vw", &(lines[..2500].join("\n") + "\n"));
    write(d, "two.vw", &(lines[2500..].join("\n") + "\n"));
    let fit = ["fit", "all.vw", "--interactions", "user:item,item:item", "--quiet"];
    ok(d, &[&fit[..], &["-m", "whole", "--checkpoint", "ck", "--every", "1500"]].concat());
    ok(d, &[&fit[..], &["-m", "resumed", "--resume", "ck"]].concat());
    assert!(bytes(d, "whole") == bytes(d, "resumed"));
    for other in [&["--interactions", "user:item"][..], &[]] {
        let why = error(d, &[&["fit", "all.vw", "-m", "other", "--resume", "ck", "--quiet"], other].concat());
        assert!(why.contains("interactions"), "{why}");
    }
    let first = ["fit", "one.vw", "--interactions", "user:item,item:item", "--with-state", "-m", "one", "--quiet"];
    ok(d, &first);
    ok(d, &["fit", "two.vw", "--from", "one", "-m", "both", "--quiet"]);
    assert_eq!(weights(d, "both"), weights(d, "whole"));
    // Models of parts are merged if they cross the same.
    for (data, model, more) in
        [("one.vw", "a", &["--interactions", "u:i"][..]), ("two.vw", "b", &["--interactions", "u:i"]), ("two.vw", "c", &[])]
    {
        ok(d, &[&["fit", data, "--loss", "squared", "--to-optimum", "-m", model, "--quiet"], more].concat());
    }
    ok(d, &["merge", "a", "b", "-m", "ab"]);
    let why = error(d, &["merge", "a", "c", "-m", "ac"]);
    assert!(why.contains("it crosses other namespaces than a: learn both with the same interactions"), "{why}");
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.vw", "1 |user u1 |item i1 |url x\n2 |user u2 |item i2 |url x\n");
    for (asked, said) in [
        ("usr:item", "there is no namespace `usr` in the first rows to take in a pair; did you mean `user`?"),
        (
            "item:shop",
            "there is no namespace `shop` in the first rows to take in a pair; the namespaces are `item`, `url`, `user`",
        ),
        ("u:item", "`u` in a pair may be any of the namespaces `url`, `user`; write the whole name"),
    ] {
        let why = error(d, &["fit", "t.vw", "--interactions", asked]);
        assert!(why.contains(said), "{why}");
    }
}
