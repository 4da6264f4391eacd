//! Parts of the rule that an experiment can switch off: for `bench/ablation.py` and the tests that each of them earns its place.

/// A part of the default learner.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Part {
    /// Dense columns are centred.
    Centre,
    /// The second-order candidate.
    SecondOrder,
    /// The lanes leave blocks of negative rows out.
    Brake,
    /// Candidates that are absurd in absolute loss are not played on signed rows.
    Guard,
    /// A single loss of a regression counts at most so much in the scores.
    Clip,
    /// The grid of steps moves up.
    MovingGrid,
    /// The first steps are shorter.
    WarmUp,
    /// One x in eight is scored and not learned from while signed rows have many features.
    HoldOut,
    /// Two lanes shrink on signed rows.
    Shrink,
    /// The lanes rest while the second-order candidate is clearly better.
    Rest,
    /// Old quadratics count less once curvatures fall.
    StaleCurvature,
    /// The second-order candidate moves only features where positive rows outweigh negative ones.
    Trust,
    /// Signed rows judge the second-order candidate by gain against noise.
    Judge,
    /// Exact partners are joined once the stream has ended, where features are many.
    Join,
}

impl Part {
    /// All parts with their names.
    pub const ALL: [(Part, &'static str); 14] = [
        (Part::Centre, "centre"),
        (Part::SecondOrder, "second"),
        (Part::Brake, "brake"),
        (Part::Guard, "guard"),
        (Part::Clip, "clip"),
        (Part::MovingGrid, "grid"),
        (Part::WarmUp, "warm-up"),
        (Part::HoldOut, "hold-out"),
        (Part::Shrink, "shrink"),
        (Part::Rest, "rest"),
        (Part::StaleCurvature, "stale"),
        (Part::Trust, "trust"),
        (Part::Judge, "judge"),
        (Part::Join, "join"),
    ];
}

/// The parts that are switched off: none, but in experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Off(u32);

impl Off {
    pub fn with(self, part: Part) -> Self {
        Off(self.0 | 1 << part as u32)
    }

    #[inline(always)]
    pub fn has(self, part: Part) -> bool {
        self.0 >> part as u32 & 1 == 1
    }
}
