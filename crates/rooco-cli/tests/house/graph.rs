//! Who uses whom.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Graph(BTreeMap<String, BTreeSet<String>>);

impl Graph {
    pub fn node(&mut self, name: &str) {
        self.0.entry(name.into()).or_default();
    }

    pub fn edge(&mut self, from: &str, to: &str) {
        self.node(to);
        self.0.entry(from.into()).or_default().insert(to.into());
    }

    pub fn uses(&self, name: &str) -> &BTreeSet<String> {
        &self.0[name]
    }

    /// Everybody after all that they use, the lowest layers first; or a circle.
    pub fn in_order(&self) -> Result<Vec<String>, String> {
        let mut layers = BTreeMap::new();
        for name in self.0.keys() {
            self.layer(name, &mut Vec::new(), &mut layers)?;
        }
        let mut order: Vec<String> = self.0.keys().cloned().collect();
        order.sort_by_key(|name| layers[name]);
        Ok(order)
    }

    /// One more than the highest layer below.
    fn layer<'a>(&'a self, name: &'a str, way: &mut Vec<&'a str>, layers: &mut BTreeMap<String, usize>) -> Result<usize, String> {
        if let Some(&known) = layers.get(name) {
            return Ok(known);
        }
        if let Some(start) = way.iter().position(|w| *w == name) {
            way.push(name);
            return Err(way[start..].join(" > "));
        }
        way.push(name);
        let mut layer = 0;
        for below in &self.0[name] {
            layer = layer.max(1 + self.layer(below, way, layers)?);
        }
        way.pop();
        layers.insert(name.into(), layer);
        Ok(layer)
    }
}
