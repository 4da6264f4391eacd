//! A loss in a model file: its base and its correction as the texts that the library reads back.

use rooco::loss::{Base, Correction, LossSpec};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

#[derive(Serialize, Deserialize)]
struct Text {
    base: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    correction: Option<String>,
    #[serde(default)]
    l2: f64,
}

/// For `serde(with)`.
pub fn serialize<S: Serializer>(loss: &LossSpec, serializer: S) -> Result<S::Ok, S::Error> {
    let correction = loss.correction.as_ref().map(|c| c.to_string());
    Text { base: loss.base.to_string(), correction, l2: loss.l2 }.serialize(serializer)
}

/// For `serde(with)`.
pub fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<LossSpec, D::Error> {
    let text = Text::deserialize(deserializer)?;
    let base = Base::parse(&text.base, 0).map_err(D::Error::custom)?;
    let correction = text.correction.as_deref().map(Correction::parse).transpose().map_err(D::Error::custom)?;
    Ok(LossSpec { base, correction, l2: text.l2 })
}

/// The same as a JSON value.
pub fn json(loss: &LossSpec) -> serde_json::Value {
    let mut value = serde_json::json!({"base": loss.base.to_string(), "l2": loss.l2});
    if let Some(correction) = &loss.correction {
        value["correction"] = correction.to_string().into();
    }
    value
}
