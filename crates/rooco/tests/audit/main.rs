//! What holds for given data: constants, certificates, the order test.

mod audit_constants;
mod certificates_hold;
mod minimum_is_certified;
mod order_detection;
mod order_false_alarms;
mod order_resume;
