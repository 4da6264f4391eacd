//! Algorithm 1, stopped in the middle and resumed elsewhere: `cargo run --example save_and_resume`.
//!
//! What is saved is the state that changes. The settings are the caller's: the learner that loads must be built like the one that saved.

use rooco::algorithm::{Curvature, Task, reservoir_sgd};
use rooco::domain::Ball;
use rooco::draw::Draws;
use rooco::loss::{Linear, Squared};
use rooco::state::State;
use rooco::{Learner, Row, Save};

const T: u64 = 2000;

fn learner() -> rooco::Result<impl Learner> {
    let task = Task::new(Linear(Squared), Ball::new(2.0)?);
    reservoir_sgd(task, Curvature::new(2.0, 0.5)?, T, Draws::seeded(7))
}

fn x(t: u64) -> [f64; 2] {
    let (s, c) = (t as f64).sin_cos();
    [1.4 * s, 1.4 * c]
}

/// Runs it.
pub fn main() -> rooco::Result<()> {
    let mut whole = learner()?;
    let mut first = learner()?;
    for t in 0..T / 2 {
        whole.observe(Row::dense(&x(t), x(t)[0]))?;
        first.observe(Row::dense(&x(t), x(t)[0]))?;
    }
    // To a file, a database, another machine.
    let bytes = first.save().to_bytes();
    drop(first);

    let mut second = learner()?;
    second.load(&State::from_bytes(&bytes)?)?;
    for t in T / 2..T {
        let paid = whole.observe(Row::dense(&x(t), x(t)[0]))?;
        assert_eq!(paid, second.observe(Row::dense(&x(t), x(t)[0]))?, "the same bits in every round");
    }
    assert_eq!(whole.rule(), second.rule());
    println!("{} bytes after {} of {T} rows; resumed: w = {:.3?}", bytes.len(), T / 2, second.played());

    // Bytes that were damaged, or that belong to another algorithm, are an error.
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    println!("damaged: {}", State::from_bytes(&damaged).expect_err("a checksum"));
    Ok(())
}
