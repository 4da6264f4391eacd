//! Held-out loss of the default over prepared sets, kinds of rows and orders: what every decision about its rule was measured with.
//!
//! `measure DIR SETS KINDS ORDERS [threads=N] [off=PART,...]`, lists with commas, say `measure DIR acs,diamonds clean,n40 0,1,2,3,4`. DIR is
//! what `bench/quality_data.py` writes. One line of tab-separated text a set and kind: mean, its standard error, CPU ns a row, the
//! share of the second-order candidate (mean), rounds that ended in a block of negative rows, then every order's loss.
//!
//! Kinds: `clean`; `n25`, `n40`, `n48` every row twice, 1.5/-0.5, 3/-2, 13/-12; `nc`, `ncc` labels flipped with rates .3 and .1, corrected
//! by two rows or in one; `ul` every tenth row also with a wrong label, at +1 and taken back at -1; `ule` the same, all that is
//! taken back at the end; `reg` a region of x at +3 and, by other rows, at -3 (`regc`: without either).

use std::fs;
use std::sync::Mutex;

use rooco::algorithm::{Auto, AutoClasses, AutoLoss, Part};
use rooco::loss::{Logistic, NoisyLabels, Pointwise, Squared};
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row};
use rooco_bench::prepared::Table;

/// Sets whose labels are 0, 1, ..., K-1.
const MANY_CLASSES: [&str; 5] = ["digits", "digits8", "wine", "anes96", "seven"];
const REGRESSION: [&str; 5] = ["diamonds", "diamraw", "nycreg", "nycregraw", "randhie"];

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// CPU time of this thread.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|s| s.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

/// (row, label, weight) in the order of arrival.
type Arrivals = Vec<(u32, f64, f64)>;

fn arrivals(kind: &str, train: &Table, two_classes: bool, seed: u64) -> Result<Arrivals, Failure> {
    let n = train.y.len();
    let mut r = Random::new(seed, Purpose::Order);
    let order = |rows: &[(u32, f64, f64)], r: &mut Random| -> Arrivals {
        r.order(rows.len()).iter().map(|&i| rows[i as usize]).collect()
    };
    let clean: Arrivals = (0..n).map(|i| (i as u32, train.y[i], 1.0)).collect();
    let twins = |plus: f64, minus: f64| -> Arrivals {
        let twin = |s: f64| move |z: &(u32, f64, f64)| (z.0, z.1, s);
        clean.iter().map(twin(plus)).chain(clean.iter().map(twin(minus))).collect()
    };
    let flip = |y: f64, r: &mut Random| if r.uniform() < if y > 0.0 { 0.3 } else { 0.1 } { -y } else { y };
    Ok(match kind {
        "clean" => order(&clean, &mut r),
        "n25" => order(&twins(1.5, -0.5), &mut r),
        "n40" => order(&twins(3.0, -2.0), &mut r),
        "n48" => order(&twins(13.0, -12.0), &mut r),
        "ncc" => {
            let noisy: Arrivals = clean.iter().map(|z| (z.0, flip(z.1, &mut r), 1.0)).collect();
            order(&noisy, &mut r)
        }
        "nc" => {
            let mut rows = Vec::new();
            for z in &clean {
                let y = flip(z.1, &mut r);
                let (own, other) = if y > 0.0 { (0.3, 0.1) } else { (0.1, 0.3) };
                rows.extend([(z.0, y, (1.0 - other) / 0.6), (z.0, -y, -own / 0.6)]);
            }
            order(&rows, &mut r)
        }
        "ul" | "ule" => {
            let (mut rows, mut back) = (clean.clone(), Vec::new());
            for z in clean.iter().filter(|z| z.0 % 10 == 0) {
                let wrong = if two_classes { -z.1 } else { train.y[r.below(n as u64) as usize] };
                rows.push((z.0, wrong, 1.0));
                back.push((z.0, wrong, -1.0));
            }
            if kind == "ul" {
                rows.extend(back);
                order(&rows, &mut r)
            } else {
                let mut rows = order(&rows, &mut r);
                rows.extend(order(&back, &mut r));
                rows
            }
        }
        "reg" | "regc" => {
            // The region: one side of a random hyperplane, columns in units of their largest value.
            let d = train.index.iter().max().map_or(0, |&i| i as usize + 1);
            let mut largest = vec![1e-300f64; d];
            train.index.iter().zip(&train.value).for_each(|(&i, v)| largest[i as usize] = largest[i as usize].max(v.abs()));
            let normal: Vec<f64> = largest.iter().map(|l| r.normal() / l).collect();
            let side: Vec<f64> = (0..n).map(|i| train.row(i).x.dot(&normal)).collect();
            let mut sorted = side.clone();
            sorted.sort_by(f64::total_cmp);
            let middle = sorted[n / 2];
            let mut rows = Vec::new();
            for z in &clean {
                match z.0 % 8 {
                    6 | 7 if kind == "regc" || side[z.0 as usize] <= middle => {}
                    6 => rows.push((z.0, z.1, 3.0)),
                    7 => rows.push((z.0, z.1, -3.0)),
                    _ => rows.push(*z),
                }
            }
            order(&rows, &mut r)
        }
        _ => return Err(format!("unknown kind {kind}").into()),
    })
}

struct Outcome {
    loss: f64,
    ns: f64,
    second: f64,
    blocks: bool,
}

fn rows<'a>(table: &'a Table, arrivals: &'a Arrivals) -> impl Iterator<Item = Row<'a>> {
    arrivals.iter().map(|&(i, y, s)| Row { y, ..table.row(i as usize) }.weighted(s))
}

fn run<P: AutoLoss>(
    mut learner: Auto<P>,
    clean: impl Pointwise,
    train: &Table,
    test: &Table,
    order: &Arrivals,
) -> Result<Outcome, Failure> {
    let start = cpu_seconds();
    for z in rows(train, order) {
        learner.observe(z)?;
    }
    let ns = (cpu_seconds() - start) * 1e9 / order.len() as f64;
    let (n, rule, mut p) = (test.y.len(), learner.joined().unwrap_or_else(|| learner.rule()), [0.0]);
    let mut loss = 0.0;
    for i in 0..n {
        rule.scores(test.row(i).x, &mut p);
        loss += clean.value(p[0], test.y[i]) / n as f64;
    }
    Ok(Outcome { loss, ns, second: learner.shares()[8], blocks: learner.is_ordered() })
}

fn run_classes(train: &Table, test: &Table, order: &Arrivals, off: &[&str]) -> Result<Outcome, Failure> {
    let k = train.y.iter().fold(0.0f64, |k, y| k.max(*y)) as usize + 1;
    let off = Part::ALL.iter().filter(|p| off.contains(&p.1));
    let mut learner = off.fold(AutoClasses::new(k)?, |learner, part| learner.without(part.0));
    let start = cpu_seconds();
    for z in rows(train, order) {
        learner.observe(z)?;
    }
    let ns = (cpu_seconds() - start) * 1e9 / order.len() as f64;
    let (mut loss, mut out, n, rule) = (0.0, vec![0.0; k], test.y.len(), learner.joined().unwrap_or_else(|| learner.rule()));
    for i in 0..n {
        rule.scores(test.row(i).x, &mut out);
        let top = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        loss += top - out[test.y[i] as usize] + out.iter().map(|m| (m - top).exp()).sum::<f64>().ln();
    }
    Ok(Outcome { loss: loss / n as f64, ns, second: learner.shares()[8], blocks: learner.is_ordered() })
}

fn one(set: &str, kind: &str, seed: u64, train: &Table, test: &Table, off: &[&str]) -> Result<Outcome, Failure> {
    let regression = REGRESSION.contains(&set);
    let order = arrivals(kind, train, !regression && !MANY_CLASSES.contains(&set), seed)?;
    macro_rules! go {
        ($loss:expr, $clean:expr) => {{
            let off = Part::ALL.iter().filter(|p| off.contains(&p.1));
            let learner = off.fold(Auto::new($loss), |learner, part| learner.without(part.0));
            run(learner, $clean, train, test, &order)
        }};
    }
    match (set, regression, kind) {
        _ if MANY_CLASSES.contains(&set) => run_classes(train, test, &order, off),
        (_, true, _) => go!(Squared, Squared).map(|o| Outcome { loss: 2.0 * o.loss, ..o }),
        (_, _, "ncc") => go!(NoisyLabels::new(Logistic, 0.3, 0.1)?, Logistic),
        _ => go!(Logistic, Logistic),
    }
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().collect();
    let [_, dir, sets, kinds, orders, options @ ..] = args.as_slice() else {
        return Err("usage: measure DIR SETS KINDS ORDERS [threads=N] [off=PART,...]".into());
    };
    let option = |name: &str| options.iter().find_map(|o| o.strip_prefix(name));
    let threads = option("threads=").map_or(Ok(2), str::parse::<usize>)?;
    let off: Vec<&str> = option("off=").map_or(Vec::new(), |o| o.split(',').collect());
    let seeds = orders.split(',').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    for set in sets.split(',') {
        let read = |part: &str| Table::read(&format!("{dir}/{set}.{part}")).map_err(|e| e.to_string());
        let (train, test) = (read("train")?, read("test")?);
        let regression = REGRESSION.contains(&set);
        for kind in kinds.split(',').filter(|k| !(k.starts_with("nc") && (regression || MANY_CLASSES.contains(&set)))) {
            let next = Mutex::new(seeds.iter().enumerate());
            let results = Mutex::new(Vec::new());
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        while let Some((k, &seed)) = next.lock().ok().and_then(|mut n| n.next()) {
                            let outcome = one(set, kind, seed, &train, &test, &off);
                            if let Ok(mut results) = results.lock() {
                                results.push((k, outcome));
                            }
                        }
                    });
                }
            });
            let mut results = results.into_inner().map_err(|e| e.to_string())?;
            results.sort_by_key(|r| r.0);
            let results = results.into_iter().map(|r| r.1).collect::<Result<Vec<_>, _>>()?;
            let n = results.len() as f64;
            let mean = |f: &dyn Fn(&Outcome) -> f64| results.iter().map(f).sum::<f64>() / n;
            let loss = mean(&|o| o.loss);
            let error = (mean(&|o| (o.loss - loss).powi(2)) / (n - 1.0).max(1.0)).sqrt();
            let blocks = results.iter().filter(|o| o.blocks).count();
            let all: Vec<String> = results.iter().map(|o| format!("{:.6}", o.loss)).collect();
            let (ns, second) = (mean(&|o| o.ns), mean(&|o| o.second));
            println!("{set}\t{kind}\t{loss:.6}\t{error:.6}\t{ns:.0}\t{second:.2}\t{blocks}\t{}", all.join(" "));
        }
    }
    Ok(())
}
