//! Passes over rows that can be read again, block by block, on one thread or several with the same bits.

use std::sync::Arc;

use crate::audit::Again;
use rooco::loss::LossSpec;
use rooco::map::{Map, Mapped};
use rooco::optimum::{Blocks, Expansion, Passes, Summer, Wanted};
use rooco::rng::{Purpose, Random};
use rooco::{Result, Row, Rows};
use rooco_data::kept::KeptRows;

impl Again for KeptRows {
    fn each(&mut self, row: &mut dyn FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        KeptRows::each(self, row)
    }
}

/// The rows that a pass learned from, or those that it held out: chosen by the same generator.
pub struct Learned<'a> {
    rows: &'a mut dyn Again,
    seed: u64,
    share: f64,
    held_out: bool,
}

impl<'a> Learned<'a> {
    /// Those that a pass with this seed and this share of held-out rows learned from.
    pub fn new(rows: &'a mut dyn Again, seed: u64, share: f64) -> Self {
        Learned { rows, seed, share, held_out: false }
    }

    /// The others.
    pub fn held_out(rows: &'a mut dyn Again, seed: u64, share: f64) -> Self {
        Learned { rows, seed, share, held_out: true }
    }
}

impl Again for Learned<'_> {
    fn each(&mut self, row: &mut dyn FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        if self.share == 0.0 {
            return if self.held_out { Ok(()) } else { self.rows.each(row) };
        }
        let mut random = Random::new(self.seed, Purpose::Holdout);
        let (share, held_out) = (self.share, self.held_out);
        self.rows.each(&mut |z| if (random.uniform() < share) == held_out { row(z) } else { Ok(()) })
    }
}

/// Rows that go through a map, if there is one.
pub struct OnMap<'a> {
    rows: &'a mut dyn Again,
    map: Option<Arc<Map>>,
}

impl<'a> OnMap<'a> {
    /// What the map makes of these rows.
    pub fn new(rows: &'a mut dyn Again, map: Option<Arc<Map>>) -> Self {
        OnMap { rows, map }
    }
}

impl Again for OnMap<'_> {
    fn each(&mut self, row: &mut dyn FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        let Some(map) = &self.map else { return self.rows.each(row) };
        let mut mapped = Mapped::default();
        self.rows.each(&mut |z| {
            map.apply(z.x, &mut mapped);
            row(Row { x: mapped.features(), ..z })
        })
    }
}

/// [`Passes`] over rows.
pub struct RowPasses<'a> {
    spec: &'a LossSpec,
    rows: &'a mut dyn Again,
    threads: usize,
}

impl<'a> RowPasses<'a> {
    /// With so many threads at work on blocks; the number changes no bit of the sums.
    pub fn new(spec: &'a LossSpec, rows: &'a mut dyn Again, threads: usize) -> Self {
        RowPasses { spec, rows, threads: threads.max(1) }
    }

    /// Hands blocks of rows to `work`, several at a time, and the results to `take`, in the order of the blocks.
    fn blocks<T: Send>(
        &mut self,
        mut blocks: Blocks,
        work: &(dyn Fn(&Rows) -> Result<T> + Sync),
        take: &mut dyn FnMut(T),
    ) -> Result<()> {
        let (threads, mut waiting) = (self.threads, Vec::new());
        let mut run = |waiting: &mut Vec<Rows>| -> Result<()> {
            let done: Vec<Result<T>> = match waiting.as_slice() {
                [one] => vec![work(one)],
                several => std::thread::scope(|scope| {
                    let others: Vec<_> = several[1..].iter().map(|rows| scope.spawn(move || work(rows))).collect();
                    let mut all = vec![work(&several[0])];
                    for other in others {
                        all.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                    }
                    all
                }),
            };
            waiting.clear();
            done.into_iter().try_for_each(|sum| {
                take(sum?);
                Ok(())
            })
        };
        self.rows.each(&mut |z| {
            if let Some(block) = blocks.push(z) {
                waiting.push(block);
                if waiting.len() == threads {
                    run(&mut waiting)?;
                }
            }
            Ok(())
        })?;
        let rest = blocks.take();
        if !rest.is_empty() {
            waiting.push(rest);
        }
        if waiting.is_empty() { Ok(()) } else { run(&mut waiting) }
    }
}

impl RowPasses<'_> {
    /// One pass: how far the rows reach in the metric of the sums' own mean Hessian, L2 included. Nothing for several scores a row, or if there is no such metric.
    pub fn spread(&mut self, sums: &Expansion) -> Result<Option<f64>> {
        let Some(inverse) = sums.mean_hessian(self.spec.l2).and_then(|h| h.inverse()) else { return Ok(None) };
        let summer = Summer::new(self.spec, sums.at.clone(), Wanted::default())?;
        let mut most = Some(0.0f64);
        self.blocks(Blocks::new(sums.dim(), false), &|rows| Ok(summer.spread(rows, &inverse)), &mut |part: Option<f64>| {
            most = most.zip(part).map(|(a, b)| a.max(b));
        })?;
        Ok(most.filter(|m| m.is_finite()))
    }
}

impl Passes for RowPasses<'_> {
    fn is_quadratic(&self) -> bool {
        self.spec.without_l2().is_ok_and(|l| l.is_quadratic())
    }

    fn expand(&mut self, w: &[f64], wanted: Wanted) -> Result<Expansion> {
        let summer = Summer::new(self.spec, w.to_vec(), wanted)?;
        let mut sums = summer.begin();
        let blocks = Blocks::new(w.len(), wanted.hessian || wanted.squares);
        self.blocks(blocks, &|rows| summer.block(rows), &mut |block| sums.add(block))?;
        let sums = sums.finish();
        if sums.rows == 0 { Err(rooco::Error::Empty) } else { Ok(sums) }
    }

    fn times(&mut self, w: &[f64], v: &[f64]) -> Result<Option<Vec<f64>>> {
        let summer = Summer::new(self.spec, w.to_vec(), Wanted::default())?;
        if !summer.can_multiply() {
            return Ok(None);
        }
        let mut out = vec![0.0; w.len()];
        let work = |rows: &Rows| {
            let mut part = vec![0.0; v.len()];
            summer.times(rows, v, &mut part);
            Ok(part)
        };
        self.blocks(Blocks::new(w.len(), false), &work, &mut |part: Vec<f64>| rooco::kernel::axpy(1.0, &part, &mut out))?;
        Ok(Some(out))
    }
}
