//! What can be done, in the words of the command line.

use rooco::guarantee::Repair;
use rooco_pass::order::OrderReport;

/// A way out, as options.
pub fn repair(repair: Repair) -> String {
    match repair {
        Repair::BoundTheDomain => "give --domain ball:R",
        Repair::GiveTheHorizon => "give --horizon T, or put the data in a file, where the rows are counted first",
        Repair::AddL2 => "give --l2 (rooco audit names how much)",
        Repair::SmallerLambda => "give a smaller --lambda",
        Repair::Shuffle => "use --shuffle, or rooco shuffle",
        Repair::Certify => "what is certain about this very run: --certify",
        Repair::AskForAGuarantee => "a bound before the run: --guarantee",
    }
    .into()
}

/// What the order test found, and the way out.
pub fn order(report: &OrderReport) -> String {
    let text = report.to_string();
    if report.random_order() { text } else { format!("{text}; {}", repair(Repair::Shuffle)) }
}
