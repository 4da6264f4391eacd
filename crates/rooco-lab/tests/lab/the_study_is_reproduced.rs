//! The table of the study behind this program (docs/lab.md) at T = 1000: Algorithm 1, Algorithm 2 and OGD on fourteen problem rows.
//!
//! The study used one data set a row, and did not record it. So the comparison is with the spread of this mean over data sets:
//! |ours - study| ≤ 3·√(se_study² + se_ours² + sd_datasets²).

use rooco_lab::{Mean, Method, problem::Family, trial};

/// Problem, then mean and standard error of Algorithm 1, Algorithm 2 and OGD 1/(λt).
const STUDY: &[(&str, [(f64, f64); 3])] = &[
    ("p1 d=2 kappa=2", [(3.136, 0.019), (5.190, 0.034), (2.267, 0.019)]),
    ("p1 d=2 kappa=10", [(9.885, 0.061), (124.6, 0.43), (4.581, 0.045)]),
    ("p1 d=2 kappa=50", [(22.64, 0.077), (131.8, 0.065), (14.65, 0.11)]),
    ("p1 d=10 kappa=2", [(2.215, 0.0049), (4.019, 0.010), (1.435, 0.0067)]),
    ("p1 d=10 kappa=10", [(7.851, 0.016), (108.4, 0.13), (2.889, 0.013)]),
    ("p1 d=10 kappa=50", [(20.32, 0.028), (65.53, 0.011), (10.01, 0.043)]),
    ("p1 d=50 kappa=2", [(1.885, 0.0019), (3.510, 0.0037), (1.130, 0.0029)]),
    ("p1 d=50 kappa=10", [(6.873, 0.0058), (101.8, 0.040), (2.226, 0.0048)]),
    ("p1 d=50 kappa=50", [(18.87, 0.0072), (54.07, 0.0030), (8.789, 0.019)]),
    ("p1box", [(3.370, 0.0099), (41.32, 0.057), (2.170, 0.0082)]),
    ("p5 kappa=10", [(11.60, 0.13), (136.0, 0.73), (4.579, 0.083)]),
    ("p5 kappa=50", [(25.89, 0.20), (53.95, 0.025), (4.548, 0.18)]),
    ("p5 kappa=10 q=0.02", [(9.140, 0.022), (140.1, 0.18), (1.232, 0.016)]),
    ("trap", [(5.7, 0.6), (19.9, 1.9), (3.6, 0.5)]),
];

#[test]
fn every_row_agrees_within_three_combined_errors() {
    const DATA_SETS: u64 = 8;
    let mut far = Vec::new();
    for (family, rows) in STUDY {
        let family = Family::parse(family).unwrap();
        let problems: Vec<_> = (0..DATA_SETS).map(|i| family.build(1_000, 1 + i).unwrap()).collect();
        for (name, (study, se)) in ["reservoir-sgd", "sgd-without-replacement", "ogd"].iter().zip(rows) {
            let method = Method::parse(name).unwrap();
            let means: Vec<f64> = (0..DATA_SETS)
                .map(|i| {
                    let r = |k| trial::run(&problems[i as usize], &method, 2, i * 20 + k).unwrap().regret;
                    Mean::of(&(0..20).map(r).collect::<Vec<_>>()).mean
                })
                .collect();
            let ours = Mean::of(&means);
            // The spread over data sets, with what 20 orders leave in it.
            let spread = ours.se * (DATA_SETS as f64).sqrt();
            let error = (se * se + ours.se * ours.se + spread * spread).sqrt();
            if (ours.mean - study).abs() > 3.0 * error {
                far.push(format!("{} {name}: {:.3} against {study} ± {se}, error {error:.3}", family.text(), ours.mean));
            }
            // And never a different order of magnitude, however large the spread is.
            assert!((ours.mean / study).ln().abs() < 0.6, "{} {name}: {} against {study}", family.text(), ours.mean);
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}
