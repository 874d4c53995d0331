//! An annotation put into a record's line without touching anything else: turns, times and
//! fields that this program does not know stay byte for byte.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::record::annotation::{Annotation, FIELD};

/// The fields of an object in their order, as they are written.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The line of a record (with or without its newline) with this analysis, without a newline. An
/// analysis that is there already is replaced.
pub fn with_analysis(line: &[u8], annotation: &Annotation) -> serde_json::Result<String> {
    let mut fields: Fields = serde_json::from_slice(line)?;
    let value = to_raw_value(&annotation.to_json())?;
    fields.0.retain(|(name, _)| name != FIELD);
    fields.0.push((FIELD.to_owned(), value));
    serde_json::to_string(&fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_stays_as_it_is() {
        let line =
            br#"{"v":1, "times_ms":[1.20, 3e0],"analysis":7,"later":{"b":1,"a":[ ]},"x\n":1e400}"#;
        let annotation = Annotation {
            by: "a test".to_owned(),
            turns: Vec::new(),
        };
        assert_eq!(
            with_analysis(line, &annotation).unwrap(),
            r#"{"v":1,"times_ms":[1.20, 3e0],"later":{"b":1,"a":[ ]},"x\n":1e400,"analysis":{"by":"a test","turns":[]}}"#
        );
        assert!(with_analysis(b"[]", &annotation).is_err());
    }
}
