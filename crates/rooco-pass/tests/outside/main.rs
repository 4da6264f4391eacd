//! Saved states and models whose bytes are sound and whose content is not: every array is changed in every way we could think of, with a checksum that
//! fits, and the run goes on from there. It may end in an error or in other numbers, never in a panic, and it may not ask for memory that no file of this
//! size can need.
//!
//! Reason for `unsafe` in this file: an allocator that looks has to be one.
#![allow(unsafe_code, missing_docs)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rooco::algorithm::{Algorithm, Memory, Settings};
use rooco::map::Kind;
use rooco::rng::{Purpose, Random};
use rooco::state::{State, Values};
use rooco_data::stream::memory::Dense;
use rooco_data::stream::{Stream, Target};
use rooco_pass::fit::{Checkpoint, CheckpointAbout, FitOptions, Session};
use rooco_pass::model::file;

struct Looking;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Looking = Looking;

/// No array of these small runs is longer.
const MOST: usize = 64 << 20;

struct Run {
    name: String,
    options: FitOptions,
    rows: usize,
    classes: bool,
}

fn runs() -> Vec<Run> {
    let base = |horizon| FitOptions {
        features: Kind::Linear,
        settings: Settings { horizon: Some(horizon), seed: 3, ..Default::default() },
        ..FitOptions::default()
    };
    let mut all = Vec::new();
    let mut add = |name: &str, rows: usize, classes: bool, change: &dyn Fn(&mut FitOptions)| {
        let mut options = base(rows as u64);
        change(&mut options);
        all.push(Run { name: name.into(), options, rows, classes });
    };
    add("default", 400, false, &|_| ());
    add("default, held out", 400, false, &|o| o.holdout = 0.2);
    add("default, classes", 400, true, &|_| ());
    add("default, ball", 400, false, &|o| o.domain = "ball:5".into());
    add("curves and pairs", 2100, false, &|o| o.features = Kind::Auto);
    for name in Algorithm::all().map(|a| a.name).filter(|n| *n != Algorithm::DEFAULT.name) {
        add(name, 400, false, &|o| {
            o.algorithm = Algorithm::parse(name).unwrap();
            o.domain = "ball:5".into();
            o.l2 = 1.0;
            // frozen-sgd needs to know when to freeze.
            o.settings.n0 = Some(50);
            if name.starts_with("convex") {
                o.l2 = 0.0;
            }
        });
    }
    add("doubling", 400, false, &|o| {
        o.algorithm = Algorithm::parse("reservoir-sgd").unwrap();
        (o.domain, o.l2) = ("ball:5".into(), 1.0);
        (o.settings.memory, o.settings.horizon) = (Memory::Doubling, None);
    });
    add("sample", 400, false, &|o| {
        o.algorithm = Algorithm::parse("reservoir-sgd").unwrap();
        (o.domain, o.l2) = ("ball:5".into(), 1.0);
        o.settings.memory = Memory::Sample(20);
    });
    all
}

/// An array in other shapes.
fn changed(values: &Values) -> Vec<Values> {
    fn shapes<T: Copy>(v: &[T], with: &[T]) -> Vec<Vec<T>> {
        let mut all = vec![Vec::new(), v[..v.len() / 2].to_vec(), [v, v].concat(), [v, &with[..1]].concat()];
        for &value in with {
            all.push(vec![value; v.len()]);
            for at in [0, v.len() / 2, v.len().saturating_sub(1)] {
                let mut one = v.to_vec();
                if let Some(x) = one.get_mut(at) {
                    *x = value;
                }
                all.push(one);
            }
        }
        all
    }
    match values {
        Values::F64(v) => shapes(v, &[f64::NAN, -1e300, 0.0, 1e18, f64::INFINITY]).into_iter().map(Values::F64).collect(),
        Values::F32(v) => shapes(v, &[f32::NAN, -1e30, 0.0, 1e18, f32::INFINITY]).into_iter().map(Values::F32).collect(),
        Values::U64(v) => shapes(v, &[u64::MAX, 0, 1, 1 << 32, 1 << 62]).into_iter().map(Values::U64).collect(),
        Values::U32(v) => shapes(v, &[u32::MAX, 0, 1, 1 << 31]).into_iter().map(Values::U32).collect(),
        Values::Text(t) => vec![Values::Text(String::new()), Values::Text(format!("{t}x")), Values::Text("\u{1F980}".into())],
    }
}

/// What was found: panics by their place, and too large requests.
#[derive(Default)]
struct Found {
    cases: usize,
    refused: usize,
    bad: Vec<String>,
}

impl Found {
    fn case(&mut self, name: &str, work: impl FnOnce() -> bool) {
        self.cases += 1;
        LARGEST.store(0, Relaxed);
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(fine) => self.refused += usize::from(!fine),
            Err(cause) => {
                let text = cause.downcast_ref::<String>().cloned();
                let text = text.or(cause.downcast_ref::<&str>().map(|t| (*t).into()));
                self.bad.push(format!("{name}: panic: {}", text.unwrap_or_default()));
            }
        }
        let largest = LARGEST.load(Relaxed);
        if largest > MOST {
            self.bad.push(format!("{name}: asked for {largest} bytes"));
        }
    }
}

/// One test, because the allocator is one.
#[test]
fn no_content_of_a_state_or_model_makes_a_panic() {
    let mut random = Random::new(1, Purpose::Test);
    let (mut found, mut tried) = (Found::default(), 0);
    let silent = std::panic::take_hook();
    if std::env::var_os("ROOCO_PANICS").is_none() {
        std::panic::set_hook(Box::new(|_| ()));
    }
    for run in runs() {
        let n = run.rows;
        let x: Vec<f64> = (0..3 * n).map(|_| random.normal()).collect();
        let y: Vec<f64> = x.chunks(3).map(|x| x[0] - 2.0 * x[1] + 0.1 * random.normal()).collect();
        let y: Vec<f64> = if run.classes { y.iter().map(|y| y.signum()).collect() } else { y };
        let weight: Vec<f64> = (0..n).map(|i| if i % 7 == 3 { -0.1 } else { 1.0 }).collect();
        let options = FitOptions { loss: run.classes.then(|| "logistic".into()), ..run.options };
        let target = if run.classes { Target::Classes(vec!["no".into(), "yes".into()]) } else { Target::Number };
        let mut stream = Dense::new(&x, 3, &y).unwrap().with_weights(&weight).unwrap().with_target(target).with_intercept();
        let schema = stream.schema().clone();
        let mut session = Session::new(options.clone());
        // An algorithm that wants other constants than these has no state to change.
        if session.take(&mut stream, (n - 60) as u64).is_err() {
            continue;
        }
        tried += 1;
        let rest: Vec<(Vec<f64>, f64, f64)> =
            std::iter::from_fn(|| stream.next().unwrap().map(|z| (z.x.iter().map(|(_, v)| v).collect(), z.y, z.weight)))
                .collect();
        let saved = session.checkpoint(&schema).unwrap();
        let go_on = |checkpoint: &Checkpoint| -> rooco::Result<Vec<u8>> {
            let mut session = Session::resume(options.clone(), &schema, checkpoint)?;
            for (x, y, weight) in &rest {
                session.observe(rooco::Row { x: rooco::Features::Dense(x), y: *y, weight: *weight }, &schema)?;
            }
            file::model_bytes(&session.fitted(&schema)?.model)
        };
        let whole = go_on(&saved).unwrap_or_else(|e| panic!("{}: {e}", run.name));
        // Once through the file, as it would come.
        let bytes = file::checkpoint_bytes(&saved.about, &saved.state).unwrap();
        let (about, state): (CheckpointAbout, State) = file::checkpoint_from_bytes(Path::new("c"), &bytes).unwrap();
        assert!(go_on(&Checkpoint { about, state }).unwrap() == whole);
        for (name, values) in saved.state.iter() {
            for (k, other) in changed(values).into_iter().enumerate() {
                let mut state = saved.state.clone();
                state.insert(name.to_owned(), other);
                let bad = Checkpoint { about: saved.about.clone(), state };
                found.case(&format!("{} {name} {k}", run.name), || go_on(&bad).is_ok());
            }
        }
        // And the model.
        let model = file::model_from_bytes(Path::new("m"), &whole).unwrap();
        let good = model.rule.save();
        for (name, values) in good.iter() {
            for (k, other) in changed(values).into_iter().enumerate() {
                let mut state = good.clone();
                state.insert(name.to_owned(), other);
                found.case(&format!("{} model {name} {k}", run.name), || {
                    let Ok(rule) = rooco::Rule::load(&state) else { return false };
                    let mut scores = vec![0.0; rule.outputs];
                    rest.iter().for_each(|(x, ..)| rule.scores(rooco::Features::Dense(x), &mut scores));
                    true
                });
            }
        }
    }
    std::panic::set_hook(silent);
    println!("{tried} runs, {} changed states and models: {} refused, the others went on", found.cases, found.refused);
    assert!(found.cases > 5_000 && tried >= 12, "{} cases of {tried} runs", found.cases);
    assert!(found.bad.is_empty(), "{} of {}:\n{}", found.bad.len(), found.cases, found.bad.join("\n"));
}
