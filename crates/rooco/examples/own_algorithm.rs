//! An algorithm of your own from three choices: `cargo run --example own_algorithm`.
//!
//! draw (whose gradient drives the round) ▸ step (how far) ▸ play (which point is shown). Two are taken from the library here, and the step
//! is new; a draw of your own is the trait `Draw`.

use rooco::algorithm::{Sgd, Task};
use rooco::domain::Ball;
use rooco::draw::{Draws, Reservoir};
use rooco::loss::{Linear, Squared};
use rooco::play::Play;
use rooco::step::Schedule;
use rooco::testing::check_learner;
use rooco::{Learner, Row};

/// η_t = η/(1 + t/10)^0.6: slower than 1/t, for a curvature that nobody knows.
struct Slow {
    eta: f64,
}

impl Schedule for Slow {
    fn eta(&self, t: u64) -> f64 {
        self.eta / (1.0 + t as f64 / 10.0).powf(0.6)
    }
}

type Loss = Linear<Squared>;

/// reservoir ▸ slow steps ▸ poly3 average.
fn my_algorithm(horizon: u64) -> rooco::Result<Sgd<Loss>> {
    let task = Task::new(Linear(Squared), Ball::new(2.0)?);
    let draw = Reservoir::planned(horizon, Draws::seeded(1))?;
    Ok(Sgd::new(task, Box::new(draw), Box::new(Slow { eta: 0.5 }), Play::Average { gamma: 3.0 })?.named("my-algorithm"))
}

/// Runs it.
pub fn main() -> rooco::Result<()> {
    let x: Vec<[f64; 2]> = (0..2000).map(|t| (t as f64).sin_cos()).map(|(s, c)| [s, c]).collect();
    let rows: Vec<Row> = x.iter().map(|x| Row::dense(x, x[0] - 0.5 * x[1])).collect();

    // The checks that every learner of the library passes: what is paid, the same bits when resumed, refused rows.
    let make = || -> rooco::Result<Box<dyn Learner>> { Ok(Box::new(my_algorithm(50)?)) };
    check_learner(&make, &Linear(Squared), &Ball::new(2.0)?, &rows[..50]).expect("a learner");

    let mut learner = my_algorithm(rows.len() as u64)?;
    let mut paid = 0.0;
    for &z in &rows {
        paid += learner.observe(z)?.loss;
    }
    println!("w = {:.3?}, progressive loss {:.5}", learner.point()?, paid / rows.len() as f64);
    Ok(())
}
