//! Passes: whoever owns the loop, the numbers are the same.

mod feed_equals_run;
mod hard_numbers;
