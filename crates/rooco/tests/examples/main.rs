//! The examples do what they say; the million rows of the service are fewer here.
#![allow(missing_docs)]

#[path = "../../examples/algorithm_1.rs"]
mod algorithm_1;
#[path = "../../examples/own_algorithm.rs"]
mod own_algorithm;
#[path = "../../examples/own_loss.rs"]
mod own_loss;
#[path = "../../examples/save_and_resume.rs"]
mod save_and_resume;
#[path = "../../examples/service.rs"]
mod service;

#[test]
fn short_examples_run() {
    algorithm_1::main().unwrap();
    own_algorithm::main().unwrap();
    own_loss::main().unwrap();
    save_and_resume::main().unwrap();
}

#[test]
fn the_service_survives_malice_and_a_restart() {
    let loss = service::run(20_000).unwrap();
    // Better than a coin, and no better than the noise of the labels allows.
    assert!(loss > 0.3 && loss < 0.6, "{loss}");
}
