//! What can be done, in the words of Python.

use rooco::guarantee::Repair;

/// A way out, as parameters and functions.
pub fn repair(repair: Repair) -> String {
    match repair {
        Repair::BoundTheDomain => "domain='ball:R'",
        Repair::GiveTheHorizon => "horizon=T",
        Repair::AddL2 => "l2=... (rooco.audit names how much)",
        Repair::SmallerLambda => "a smaller lambda_",
        Repair::Shuffle => "shuffle the rows, or rooco.shuffle for files",
        Repair::Certify => "what is certain about this very run: rooco.certify",
        Repair::AskForAGuarantee => "a bound before the run: algorithm='provable-average' with domain='ball:R'",
    }
    .into()
}
