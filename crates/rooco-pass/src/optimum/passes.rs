//! Passes over rows that can be read again, block by block, on one thread or several with the same bits.

use std::sync::Arc;

use crate::audit::Again;
use rooco::linalg::Symmetric;
use rooco::loss::LossSpec;
use rooco::map::{Map, Mapped};
use rooco::optimum::{Block, Blocks, Expansion, NOWHERE, Passes, Summer, Wanted};
use rooco::rng::{Purpose, Random};
use rooco::{Result, Row, Rows};
use rooco_data::kept::KeptRows;

impl Again for KeptRows {
    fn each(&mut self, row: &mut dyn FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        KeptRows::each(self, row)
    }

    fn in_memory(&self) -> Option<&Rows> {
        KeptRows::in_memory(self)
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

    fn in_memory(&self) -> Option<&Rows> {
        self.rows.in_memory().filter(|_| self.share == 0.0 && !self.held_out)
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

    fn in_memory(&self) -> Option<&Rows> {
        self.rows.in_memory().filter(|_| self.map.is_none())
    }
}

/// Curvatures of rows that are kept from one product to the next, in numbers: 64 MB.
const KEPT: usize = 1 << 23;

/// [`Passes`] over rows.
pub struct RowPasses<'a> {
    spec: &'a LossSpec,
    rows: &'a mut dyn Again,
    threads: usize,
    /// A point, and how the rows curve there; no numbers: there were too many.
    kept: Option<(Vec<f64>, Vec<f64>)>,
}

/// Works on blocks, each on a thread of its own, and takes the results in the order of the blocks.
fn side_by_side<T: Send>(
    blocks: &[Block<'_>],
    work: &(dyn Fn(Block<'_>) -> Result<T> + Sync),
    take: &mut dyn FnMut(T),
) -> Result<()> {
    let Some((first, others)) = blocks.split_first() else { return Ok(()) };
    let done: Vec<Result<T>> = if others.is_empty() {
        vec![work(*first)]
    } else {
        std::thread::scope(|scope| {
            let others: Vec<_> = others.iter().map(|block| scope.spawn(move || work(*block))).collect();
            let mut all = vec![work(*first)];
            for other in others {
                all.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            all
        })
    };
    done.into_iter().try_for_each(|sum| {
        take(sum?);
        Ok(())
    })
}

impl<'a> RowPasses<'a> {
    /// With so many threads at work on blocks; the number changes no bit of the sums.
    pub fn new(spec: &'a LossSpec, rows: &'a mut dyn Again, threads: usize) -> Self {
        RowPasses { spec, rows, threads: threads.max(1), kept: None }
    }

    /// Hands blocks of rows to `work`, several at a time, and the results to `take`, in the order of the blocks.
    fn blocks<T: Send>(
        &mut self,
        mut blocks: Blocks,
        work: &(dyn Fn(Block<'_>) -> Result<T> + Sync),
        take: &mut dyn FnMut(T),
    ) -> Result<()> {
        let threads = self.threads;
        if let Some(rows) = self.rows.in_memory() {
            let (mut waiting, mut from) = (Vec::new(), 0);
            for j in 0..rows.len() {
                if blocks.ends(rows.get(j).x.values().len()) {
                    waiting.push(Block::new(rows, from..j + 1, from));
                    from = j + 1;
                    if waiting.len() == threads {
                        side_by_side(&waiting, work, take)?;
                        waiting.clear();
                    }
                }
            }
            if from < rows.len() {
                waiting.push(Block::new(rows, from..rows.len(), from));
            }
            return side_by_side(&waiting, work, take);
        }
        // Rows that are lent one by one are copied, a few blocks of them.
        let (mut waiting, mut filling, mut passed) = (Vec::<(Rows, usize)>::new(), Rows::default(), 0);
        let mut run = |waiting: &mut Vec<(Rows, usize)>| -> Result<()> {
            let blocks: Vec<Block<'_>> = waiting.iter().map(|(rows, first)| Block::new(rows, 0..rows.len(), *first)).collect();
            side_by_side(&blocks, work, take)?;
            waiting.clear();
            Ok(())
        };
        self.rows.each(&mut |z| {
            filling.push(z);
            if blocks.ends(z.x.values().len()) {
                let first = passed;
                passed += filling.len();
                waiting.push((std::mem::take(&mut filling), first));
                if waiting.len() == threads {
                    run(&mut waiting)?;
                }
            }
            Ok(())
        })?;
        if !filling.is_empty() {
            waiting.push((filling, passed));
        }
        run(&mut waiting)
    }

    /// Hands blocks to `work` with the curvatures of their rows at w, which are kept for the next time if they are not too many.
    fn curved<T: Send>(
        &mut self,
        summer: &Summer,
        work: &(dyn Fn(Block<'_>, &[f64]) -> T + Sync),
        take: &mut dyn FnMut(T),
    ) -> Result<()> {
        let blocks = Blocks::new(summer.at().len(), false);
        let kept = self.kept.take().filter(|(at, _)| at == summer.at());
        match &kept {
            Some((_, all)) if !all.is_empty() => {
                self.blocks(blocks, &|rows| Ok(work(rows, summer.of_block(all, rows))), take)?;
                self.kept = kept;
            }
            _ => {
                let (mut all, mut room) = (Vec::new(), kept.is_none());
                let both = |rows: Block<'_>| {
                    let curvatures = summer.curvatures(rows);
                    let done = work(rows, &curvatures);
                    Ok((curvatures, done))
                };
                self.blocks(blocks, &both, &mut |(curvatures, done)| {
                    room = room && all.len() + curvatures.len() <= KEPT;
                    if room {
                        all.extend_from_slice(&curvatures);
                    } else {
                        all = Vec::new();
                    }
                    take(done);
                })?;
                self.kept = Some((summer.at().to_vec(), all));
            }
        }
        Ok(())
    }

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
        let work = |rows: Block<'_>, curvatures: &[f64]| {
            let mut part = vec![0.0; v.len()];
            summer.times(rows, curvatures, v, &mut part);
            part
        };
        self.curved(&summer, &work, &mut |part: Vec<f64>| rooco::kernel::axpy(1.0, &part, &mut out))?;
        Ok(Some(out))
    }

    fn between(&mut self, w: &[f64], chosen: &[usize]) -> Result<Option<Symmetric>> {
        let summer = Summer::new(self.spec, w.to_vec(), Wanted::default())?;
        if !summer.can_multiply() {
            return Ok(None);
        }
        let mut place = vec![NOWHERE; w.len()];
        chosen.iter().enumerate().for_each(|(n, &i)| place[i] = n as u32);
        let mut out = Symmetric::zeros(chosen.len());
        let work = |rows: Block<'_>, curvatures: &[f64]| {
            let mut part = Symmetric::zeros(chosen.len());
            summer.between(rows, curvatures, &place, &mut part);
            part
        };
        self.curved(&summer, &work, &mut |part: Symmetric| out.add(1.0, &part))?;
        Ok(Some(out))
    }
}
