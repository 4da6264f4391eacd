//! An algorithm of one's own, compared with the library's in the lab: `cargo run --release -p rooco-lab --example own_comparator`.
//!
//! The algorithm is SGD with momentum, playing the iterate. A rule says where it plays and what a gradient does to it; the lab
//! does the rest: random orders, means with standard errors, the report.

use rooco_lab::comparator::{Comparator, Round, Update};
use rooco_lab::{Experiment, Method, report, run};

struct Momentum {
    eta: f64,
    w: Vec<f64>,
    v: Vec<f64>,
}

impl Update for Momentum {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        for i in 0..self.w.len() {
            self.v[i] = 0.9 * self.v[i] + 0.1 * r.g[i];
            self.w[i] -= self.eta / (1.0 + 0.02 * r.t as f64) * self.v[i];
        }
        r.domain.project(&mut self.w);
    }
    fn parts(&self) -> Vec<&[f64]> {
        vec![&self.w, &self.v]
    }
    fn parts_mut(&mut self) -> Vec<&mut [f64]> {
        vec![&mut self.w, &mut self.v]
    }
}

const EXPERIMENT: &str = r#"
name = "momentum"
about = "SGD with momentum against Algorithm 1 and plain SGD."
t = [100, 1000, 10000]
orders = [100, 40, 10]
problems = ["p1", "p3", "p5"]
algorithms = ["reservoir-sgd", "fresh:invbeta:poly3", "ogd"]
"#;

fn main() -> rooco::Result<()> {
    let mut experiment = Experiment::parse(EXPERIMENT, "momentum.toml".as_ref())?;
    experiment.methods.push(Method::new("momentum", |p, _seed| {
        let rule = Momentum { eta: 1.0 / p.beta(), w: p.w1.clone(), v: vec![0.0; p.w1.len()] };
        Ok(Box::new(Comparator::new(rule, p.problem.loss().clone(), p.domain())?))
    }));
    let folder = std::env::temp_dir().join("rooco-own-comparator");
    let _ = std::fs::remove_dir_all(&folder);
    let results = run::run(&experiment, &folder, &run::RunOptions::default(), &|_| {})?.expect("nothing stops it early");
    for c in &results.cells {
        println!("{:<18} T = {:<6} {:<20} {:>9.3} ± {:.3}", c.problem, c.t, c.algorithm, c.regret().mean, c.regret().se);
    }
    let file = folder.join("report.html");
    report::write(&file, &report::html(&report::ReportData::of(&results)))?;
    println!("report: {}", file.display());
    Ok(())
}
