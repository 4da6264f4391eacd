//! Past rows: the replay plan and where they wait.

mod replay_common;
mod replay_on_disk;
mod replay_plan_keeps_a_fifth;
mod replay_stores_give_the_same_iterates;
mod replay_with_bounded_memory;
