//! A map as named arrays, and back.

use super::trees::{Ask, Node};
use super::{Axis, Curve, Knots, Map, Pair, Tree};
use crate::error::{Error, Result};
use crate::state::State;

const OWNER: &str = "map 1";

impl Map {
    /// The arrays to save.
    pub fn save(&self) -> State {
        let mut s = State::of(OWNER);
        let (mut knots, mut mass): (Vec<f64>, Vec<f64>) = Default::default();
        let mut curves: Vec<u32> = Vec::new();
        for c in &self.curves {
            curves.extend([c.coordinate, c.knots.len() as u32]);
            knots.extend(c.knots.values());
            mass.extend(&c.mass);
        }
        s.put_u32("curves", curves);
        s.put_f64("knots", knots);
        s.put_f64("mass", mass);
        // A number: 0, its coordinate, the number of its knots. Categories: 1, how many, their coordinates.
        let (mut axes, mut axis_knots, mut axis_mass): (Vec<u32>, Vec<f64>, Vec<f64>) = Default::default();
        for axis in &self.axes {
            axis_mass.extend(axis.mass());
            match axis {
                Axis::Number { coordinate, knots, .. } => {
                    axes.extend([0, *coordinate, knots.len() as u32]);
                    axis_knots.extend(knots.values());
                }
                Axis::Levels { coordinates, .. } => {
                    axes.extend([1, coordinates.len() as u32]);
                    axes.extend(coordinates);
                }
            }
        }
        s.put_u32("axes", axes);
        s.put_f64("axis_knots", axis_knots);
        s.put_f64("axis_mass", axis_mass);
        s.put_u32("pairs", self.pairs.iter().flat_map(|p| p.axes.map(|a| a as u32)).collect::<Vec<_>>());
        s.put_count("keeps_raw", self.keeps_raw as u64);
        if !self.trees.is_empty() {
            self.save_trees(&mut s);
        }
        s
    }

    /// A tree: how many nodes and leaves. A node: its axis, where yes and no lead, 0 for a number and 1 for categories; then its cut, or the set of them.
    fn save_trees(&self, s: &mut State) {
        let (mut trees, mut nodes, mut cuts): (Vec<u32>, Vec<u32>, Vec<f64>) = Default::default();
        let mut sets: Vec<u64> = Vec::new();
        for tree in &self.trees {
            trees.extend([tree.nodes.len() as u32, tree.leaves() as u32]);
            for node in &tree.nodes {
                nodes.extend([node.axis, node.next[0] as u32, node.next[1] as u32, matches!(node.ask, Ask::Among(_)) as u32]);
                match &node.ask {
                    Ask::Below(cut) => cuts.push(*cut),
                    Ask::Among(set) => sets.extend(set),
                }
            }
        }
        s.put_u32("trees", trees);
        s.put_u32("nodes", nodes);
        s.put_f64("cuts", cuts);
        s.put_u64("sets", sets);
        s.put_f64("leaf_mass", self.trees.iter().flat_map(|t| t.mass.clone()).collect::<Vec<_>>());
        s.put_u32("sample", self.sample.iter().map(|leaf| *leaf as u32).collect::<Vec<_>>());
    }

    /// The saved map; an error if its arrays do not fit together.
    pub fn load(s: &State) -> Result<Self> {
        s.expect(OWNER)?;
        let damaged = || Error::State { what: "the arrays of its feature map do not fit together".into() };
        let (mut knots, mut mass) = (Take(s.f64("knots")?), Take(s.f64("mass")?));
        let (mut curves, mut at) = (Vec::new(), 0u64);
        let (pairs_of, rest) = s.u32("curves")?.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(damaged());
        }
        for &[coordinate, n] in pairs_of {
            let knots = knots.next(n).and_then(|k| Knots::new(k.to_vec())).ok_or_else(damaged)?;
            let mass = mass.next(n).ok_or_else(damaged)?.to_vec();
            curves.push(Curve { coordinate, knots, mass, at: u32::try_from(at).map_err(|_| damaged())? });
            at += n as u64 + 2;
        }
        let (mut words, mut axis_knots, mut axes) = (Take(s.u32("axes")?), Take(s.f64("axis_knots")?), Vec::new());
        let mut axis_mass = Take(s.f64("axis_mass")?);
        while !words.0.is_empty() {
            let kind = words.next(1).ok_or_else(damaged)?[0];
            axes.push(match kind {
                0 => {
                    let &[coordinate, n] = words.next(2).ok_or_else(damaged)? else { return Err(damaged()) };
                    let knots = axis_knots.next(n).and_then(|k| Knots::new(k.to_vec())).ok_or_else(damaged)?;
                    let mass = axis_mass.next(n).ok_or_else(damaged)?.to_vec();
                    Axis::Number { coordinate, knots, mass }
                }
                1 => {
                    let n = words.next(1).ok_or_else(damaged)?[0];
                    let coordinates = words.next(n).ok_or_else(damaged)?.to_vec();
                    if !coordinates.windows(2).all(|c| c[0] < c[1]) {
                        return Err(damaged());
                    }
                    let mass = axis_mass.next(n.saturating_add(1)).ok_or_else(damaged)?.to_vec();
                    Axis::Levels { coordinates, mass }
                }
                _ => return Err(damaged()),
            });
        }
        let largest = |axis: &Axis| match axis {
            Axis::Number { coordinate, .. } => *coordinate,
            Axis::Levels { coordinates, .. } => coordinates.last().copied().unwrap_or(0),
        };
        // The table of coordinates is as long as the largest of them: what no reader of files can have made is refused.
        let coordinates = curves.iter().map(|c: &Curve| c.coordinate).chain(axes.iter().map(largest)).max().unwrap_or(0);
        if !knots.0.is_empty()
            || !axis_knots.0.is_empty()
            || !mass.0.is_empty()
            || !axis_mass.0.is_empty()
            || coordinates as usize > crate::MAX_FEATURES
        {
            return Err(damaged());
        }
        let fate = Map::fates(&curves, &axes);
        let keeps_raw = s.count("keeps_raw")? != 0;
        let mut map = Map { curves, axes, pairs: Vec::new(), trees: Vec::new(), sample: Vec::new(), keeps_raw, base: 0, fate };
        let (pairs, rest) = s.u32("pairs")?.as_chunks::<2>();
        for &[a, b] in pairs {
            let axes = [a as usize, b as usize];
            if axes[0] >= axes[1] || axes[1] >= map.axes.len() {
                return Err(damaged());
            }
            let pair = Pair { axes, at: u32::try_from(at).map_err(|_| damaged())? };
            at += map.cells(&pair) as u64;
            map.pairs.push(pair);
        }
        map.base = u32::try_from(at).map_err(|_| damaged())?;
        if !rest.is_empty() {
            return Err(damaged());
        }
        if s.has("trees") {
            map.load_trees(s).map(|fits| fits.ok_or_else(damaged))??;
        }
        Ok(map)
    }

    /// `None` if the arrays do not fit together.
    fn load_trees(&mut self, s: &State) -> Result<Option<()>> {
        let (sizes, rest) = s.u32("trees")?.as_chunks::<2>();
        let (mut nodes, mut cuts, mut sets) = (Take(s.u32("nodes")?), Take(s.f64("cuts")?), Take(s.u64("sets")?));
        let mut mass = Take(s.f64("leaf_mass")?);
        let mut tree = |&[n, leaves]: &[u32; 2]| {
            let mut all = Vec::new();
            // Every node but the first, and every leaf, is where one answer leads: a walk ends.
            let mut led_to = vec![0u32; n.checked_add(leaves)? as usize];
            for k in 0..n {
                let &[axis, yes, no, kind] = nodes.next(4)? else { return None };
                let ask = match (kind, self.axes.get(axis as usize)?) {
                    (0, Axis::Number { .. }) => Ask::Below(*cuts.next(1)?.first().filter(|c| c.is_finite())?),
                    (1, Axis::Levels { .. }) => Ask::Among(sets.next(4)?.try_into().ok()?),
                    _ => return None,
                };
                let next = [yes as i32, no as i32];
                for at in next {
                    let place = if at >= 0 { (at as u32 > k && (at as u32) < n).then_some(at as u32)? } else { n + !at as u32 };
                    *led_to.get_mut(place as usize)? += 1;
                }
                all.push(Node { axis, ask, next });
            }
            let mass = mass.next(leaves)?;
            let once = led_to.iter().enumerate().all(|(k, times)| *times == (k > 0) as u32);
            let fits = once && n > 0 && leaves <= 256 && mass.iter().all(|m| (0.0..=1.0).contains(m));
            fits.then(|| Tree { nodes: all, at: 0, mass: mass.to_vec() })
        };
        let Some(trees) = sizes.iter().map(&mut tree).collect::<Option<Vec<Tree>>>() else { return Ok(None) };
        let sample = s.u32("sample")?;
        let n = sample.len() / trees.len().max(1);
        let fits = rest.is_empty()
            && nodes.0.is_empty()
            && cuts.0.is_empty()
            && sets.0.is_empty()
            && mass.0.is_empty()
            && sample.len() == n * trees.len()
            && sample.iter().enumerate().all(|(k, leaf)| (*leaf as usize) < trees[k / n].leaves());
        if fits {
            self.sample = sample.iter().map(|leaf| *leaf as u8).collect();
            self.set_trees(trees)?;
        }
        Ok(fits.then_some(()))
    }
}

/// The next few of a slice.
struct Take<'a, T>(&'a [T]);

impl<'a, T> Take<'a, T> {
    fn next(&mut self, n: u32) -> Option<&'a [T]> {
        let (head, tail) = self.0.split_at_checked(n as usize)?;
        self.0 = tail;
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Column, Kind, MapSpec};
    use crate::row::Row;
    use crate::rows::Rows;
    use crate::state::Values;

    fn map() -> Map {
        let rows: Rows = (0..900u32)
            .map(|i| ([0, 1, 2, 3 + i % 3], [1.0, i as f64, (i * i % 77) as f64, 1.0]))
            .collect::<Vec<_>>()
            .iter()
            .map(|(i, v)| Row::sparse(i, v, 0.0))
            .collect();
        let columns = vec![Column::Number(1), Column::Number(2), Column::Categories(vec![3, 4, 5])];
        MapSpec { kind: Kind::Auto, columns, knots: Some(5), ..Default::default() }
            .build(&rows, &mut |_| Ok(Vec::new()))
            .unwrap()
            .unwrap()
    }

    /// With trees whose leaves lean to one side of every column.
    fn with_trees() -> Map {
        let rows: Rows = (0..900u32)
            .map(|i| ([0, 1, 2, 3 + i % 3], [1.0, i as f64, (i * i % 77) as f64, 1.0]))
            .collect::<Vec<_>>()
            .iter()
            .map(|(i, v)| Row::sparse(i, v, 0.0))
            .collect();
        let mut near = |j: usize, scores: &[f64], slopes: &mut [f64], curvatures: &mut [f64]| {
            let y = (j % 3) as f64 + (j > 450) as u32 as f64 * (j * j % 77) as f64 / 40.0;
            (slopes[0], curvatures[0]) = (scores[0] - y, 1.0);
        };
        map().with_trees(&rows, 1, &mut near).unwrap()
    }

    #[test]
    fn a_map_comes_back_as_it_was() {
        let trees = with_trees();
        assert!(trees.trees().len() == 16 && trees.base() > map().base());
        assert_eq!(Map::load(&trees.save()).unwrap(), trees);
        let map = map();
        assert_eq!(Map::load(&map.save()).unwrap(), map);
        assert!(map.pairs().len() == 3 && map.keeps_raw());
    }

    #[test]
    fn damaged_arrays_are_an_error() {
        for (good, (name, values)) in
            [map().save(), with_trees().save()].iter().flat_map(|good| good.iter().map(move |v| (good, v)))
        {
            for cut in 0..6 {
                let mut bad = good.clone();
                let changed = match values {
                    Values::U32(v) if cut < v.len() => {
                        let mut v = v.clone();
                        if cut % 2 == 0 {
                            v[cut] = u32::MAX
                        } else {
                            v.truncate(cut)
                        }
                        Values::U32(v)
                    }
                    Values::U64(v) if cut < v.len() => {
                        let mut v = v.clone();
                        v.truncate(cut);
                        Values::U64(v)
                    }
                    Values::F64(v) if cut < v.len() => {
                        let mut v = v.clone();
                        if cut % 2 == 0 {
                            v[cut] = f64::NAN
                        } else {
                            v.truncate(cut)
                        }
                        Values::F64(v)
                    }
                    _ => continue,
                };
                bad.insert(name.to_owned(), changed);
                // Anything but a panic; most of it is refused.
                let _ = Map::load(&bad);
                if ["knots", "trees", "nodes", "cuts", "sets"].contains(&name) {
                    assert!(Map::load(&bad).is_err(), "{name} {cut}");
                }
            }
        }
    }
}
