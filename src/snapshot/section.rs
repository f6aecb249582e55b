//! Sections are structs of readings that are always present; the reason for not knowing lives in each leaf.

/// Declares a section: each field becomes a `Reading`, left out of the serialised form while nobody asked for it.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])*
            #[serde(skip_serializing_if = "crate::reading::Reading::is_unasked")]
            pub $field: crate::reading::Reading<$kind>,)*
        }

        impl $name {
            /// True while nobody asked for any of it.
            pub fn is_unasked(&self) -> bool {
                true $(&& self.$field.is_unasked())*
            }

            /// Takes from `other` what is not known here.
            pub fn fill(&mut self, other: Self) {
                $(self.$field.fill(other.$field);)*
            }

            /// Gives one reason to each leaf that nobody asked for.
            pub fn mark(&mut self, gap: crate::reading::GapId) {
                $(if self.$field.is_unasked() { self.$field = crate::reading::Reading::Unknown(gap); })*
            }

            /// Says of each leaf that nobody asked for that the host has no such thing.
            pub fn mark_absent(&mut self, source: crate::reading::SourceId) {
                $(if self.$field.is_unasked() { self.$field = crate::reading::Reading::Absent(source); })*
            }
        }
    };
}

pub(super) use section;
