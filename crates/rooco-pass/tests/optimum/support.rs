use rooco::loss::{Base, Correction, LossSpec, Prediction};
use rooco::rng::{Purpose, Random};
use rooco::{Row, Rows};

/// Every loss and correction that the program can name.
pub fn specs() -> Vec<LossSpec> {
    let bases = ["squared", "huber:0.5", "logistic", "squared-hinge", "smoothed-hinge:0.5", "softmax:3"];
    let corrections = [
        None,
        Some("label-noise:0.2,0.1"),
        Some("randomised-response:0.2"),
        Some("feature-noise:0,0.05,0.05"),
        Some("missing:0,0.1,0.1"),
        Some("positive-unlabelled:0.5,0.2"),
    ];
    let all = bases.iter().flat_map(|b| corrections.iter().map(move |c| (b, c)));
    all.filter_map(|(base, correction)| {
        let correction = correction.map(Correction::parse).transpose().ok()?;
        let spec = LossSpec { base: Base::parse(base, 0).unwrap(), correction, l2: 0.05 };
        spec.without_l2().ok().map(|_| spec)
    })
    .collect()
}

/// n rows of d features, the first of them 1; dense, or sparse where they are zero; a fifth of the weights negative if `signed`.
pub fn rows(spec: &LossSpec, n: usize, d: usize, sparse: bool, signed: bool, seed: u64) -> Rows {
    let mut r = Random::new(seed, Purpose::Test);
    let truth: Vec<f64> = (0..d).map(|_| r.normal()).collect();
    let mut rows = Rows::default();
    for t in 0..n {
        let mut x: Vec<f64> =
            (0..d).map(|_| if sparse && r.uniform() < 0.6 { 0.0 } else { r.normal().clamp(-2.5, 2.5) }).collect();
        x[0] = 1.0;
        let score: f64 = x.iter().zip(&truth).map(|(x, w)| x * w).sum::<f64>() + r.normal();
        let y = match spec.base.kind() {
            Prediction::Number => score,
            Prediction::TwoClasses => score.signum(),
            Prediction::Classes => (score.round().clamp(-1.0, 1.0) + 1.0).trunc(),
        };
        let weight = if signed && t % 5 == 0 { -0.3 } else { 1.0 };
        if sparse {
            let index: Vec<u32> = (0..d as u32).filter(|i| x[*i as usize] != 0.0).collect();
            let value: Vec<f64> = index.iter().map(|i| x[*i as usize]).collect();
            rows.push(Row::sparse(&index, &value, y).weighted(weight));
        } else {
            rows.push(Row::dense(&x, y).weighted(weight));
        }
    }
    rows
}
