//! What every loss, domain and algorithm keeps, and the default learner.

mod corrected_losses_are_unbiased;
mod default_corrects_features;
mod default_is_free_of_units;
mod default_is_safe_with_signed_weights;
mod default_learns_many_classes;
mod default_on_a_domain;
mod default_parts_earn_their_place;
mod default_saves_and_resumes;
mod default_support;
mod default_survives_blocks;
mod default_traps;
mod every_algorithm_is_a_learner;
mod every_domain_projects;
mod every_loss_is_minimised;
mod every_loss_keeps_its_constants;
mod maps;
mod trees;
mod weights_lazy_equals_naive;
