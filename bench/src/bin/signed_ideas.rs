//! Ways to score candidates on signed rows, tried on one stream: held-out loss of each, for `bench/signed_ideas.py`.
//!
//! `signed_ideas TRAIN TEST`, prepared files (`prepared/mod.rs`), logistic loss. Prints one JSON object, idea to loss.
//!
//! The problem: with more features than rows a model memorises rows, so that the partner of a row (the same x with another weight or
//! label), seen earlier, biases the score of every candidate. The default holds one x in eight out of learning and scores those only.

use rooco_bench::prepared;

use std::collections::{HashMap, VecDeque};

use prepared::Table;
use rooco::algorithm::{Auto, Role};
use rooco::loss::{Logistic, Pointwise};
use rooco::{Features, Learner, Result};

/// A hash of the set of (index, value) pairs, like the one the default uses to hold rows out.
fn hash(x: Features<'_>) -> u64 {
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    mix(x.iter().fold(7, |sum: u64, (i, v)| sum.wrapping_add(mix((i as u64 + 1) ^ v.to_bits().rotate_left(20)))))
}

fn held_out(models: &[Auto<Logistic>], test: &Table) -> f64 {
    let loss = |i: usize| {
        let sum: f64 = models.iter().map(|m| m.predict(test.row(i).x)).sum();
        Logistic.value(sum / models.len() as f64, test.y[i])
    };
    (0..test.y.len()).map(loss).sum::<f64>() / test.y.len() as f64
}

/// As shipped.
fn shipped(train: &Table) -> Result<Vec<Auto<Logistic>>> {
    let mut learner = Auto::new(Logistic);
    for t in 0..train.y.len() {
        learner.observe(train.row(t))?;
    }
    Ok(vec![learner])
}

/// Two learners; each learns the x of one half, by hash, and is scored on the other half. Their predictions are averaged.
fn cross_scoring(train: &Table) -> Result<Vec<Auto<Logistic>>> {
    let mut learners = vec![Auto::new(Logistic), Auto::new(Logistic)];
    for t in 0..train.y.len() {
        let half = hash(train.row(t).x) % 2;
        for (k, learner) in learners.iter_mut().enumerate() {
            learner.observe_for(train.row(t), if k as u64 == half { Role::Learn } else { Role::Score })?;
        }
    }
    Ok(learners)
}

/// One x in eight is held out; only its rows of positive weight are scored.
fn positive_rows_only(train: &Table) -> Result<Vec<Auto<Logistic>>> {
    let mut learner = Auto::new(Logistic);
    for t in 0..train.y.len() {
        if !hash(train.row(t).x).is_multiple_of(8) {
            learner.observe_for(train.row(t), Role::Learn)?;
        } else if train.weight[t] > 0.0 {
            learner.observe_for(train.row(t), Role::Score)?;
        }
    }
    Ok(vec![learner])
}

/// Every row is scored when it comes and learned `delay` rows later: partners less than that apart do not bias each other's score.
fn delayed_learning(train: &Table, delay: usize) -> Result<Vec<Auto<Logistic>>> {
    let (mut learner, n) = (Auto::new(Logistic), train.y.len());
    for t in 0..n + delay {
        if t < n {
            learner.observe_for(train.row(t), Role::Score)?;
        }
        if t >= delay {
            learner.observe_for(train.row(t - delay), Role::Learn)?;
        }
    }
    Ok(vec![learner])
}

/// Up to `room` rows wait for a partner. Partners leave together: as one row of the sum of their weights if their labels agree, else one after
/// the other. If there is no room, the row that has waited longest leaves alone.
fn waiting_for_partners(train: &Table, room: usize) -> Result<Vec<Auto<Logistic>>> {
    let mut learner = Auto::new(Logistic);
    let (mut waiting, mut queue) = (HashMap::<u64, usize>::new(), VecDeque::<usize>::new());
    for t in 0..train.y.len() {
        let row = train.row(t);
        if let Some(partner) = waiting.remove(&hash(row.x)) {
            if train.y[partner] == row.y {
                learner.observe(row.weighted(row.weight + train.weight[partner]))?;
            } else {
                learner.observe(train.row(partner))?;
                learner.observe(row)?;
            }
            continue;
        }
        waiting.insert(hash(row.x), t);
        queue.push_back(t);
        while waiting.len() > room {
            let Some(oldest) = queue.pop_front() else { break };
            let key = hash(train.row(oldest).x);
            if waiting.get(&key) == Some(&oldest) {
                waiting.remove(&key);
                learner.observe(train.row(oldest))?;
            }
        }
    }
    for t in queue {
        if waiting.get(&hash(train.row(t).x)) == Some(&t) {
            learner.observe(train.row(t))?;
        }
    }
    Ok(vec![learner])
}

/// An idea: what it does with a stream.
type Idea = Box<dyn Fn(&Table) -> Result<Vec<Auto<Logistic>>>>;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, train, test] = args.as_slice() else { return Err("usage: signed_ideas TRAIN TEST".into()) };
    let (train, test) = (Table::read(train)?, Table::read(test)?);
    let ideas: [(&str, Idea); 8] = [
        ("as shipped", Box::new(shipped)),
        ("cross-scoring", Box::new(cross_scoring)),
        ("positive rows only", Box::new(positive_rows_only)),
        ("delayed 0", Box::new(|t| delayed_learning(t, 0))),
        ("delayed 1024", Box::new(|t| delayed_learning(t, 1024))),
        ("partners 256", Box::new(|t| waiting_for_partners(t, 256))),
        ("partners 2048", Box::new(|t| waiting_for_partners(t, 2048))),
        ("partners all", Box::new(|t| waiting_for_partners(t, usize::MAX))),
    ];
    let mut out = Vec::new();
    for (name, idea) in &ideas {
        out.push(format!("\"{name}\": {}", held_out(&idea(&train)?, &test)));
    }
    println!("{{{}}}", out.join(", "));
    Ok(())
}
