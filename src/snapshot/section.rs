//! Sections are structs of readings that are always present; the reason for not knowing lives in each leaf.

/// What every section answers.
pub(super) trait Section {
    /// True while nobody asked for any of it.
    fn is_unasked(&self) -> bool;
}

/// Declares a section: each field becomes a `Reading`, left out of the serialised form while nobody asked for it. Sections
/// inside it stand behind `;`.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $kind:ty,)*
        $(; $($(#[$inner_doc:meta])* $inner:ident = $inner_kind:ident,)*)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])*
            #[serde(skip_serializing_if = "crate::reading::Reading::is_unasked")]
            pub $field: crate::reading::Reading<$kind>,)*
            $($($(#[$inner_doc])*
            #[serde(skip_serializing_if = "crate::snapshot::section::Section::is_unasked")]
            pub $inner: $inner_kind,)*)?
        }

        impl crate::snapshot::section::Section for $name {
            fn is_unasked(&self) -> bool {
                Self::is_unasked(self)
            }
        }

        impl $name {
            /// True while nobody asked for any of it.
            pub fn is_unasked(&self) -> bool {
                true $(&& self.$field.is_unasked())* $($(&& self.$inner.is_unasked())*)?
            }

            /// Takes from `other` what is not known here.
            pub fn fill(&mut self, other: Self) {
                $(self.$field.fill(other.$field);)*
                $($(self.$inner.fill(other.$inner);)*)?
            }

            /// Gives one reason to each leaf that nobody asked for.
            pub fn mark(&mut self, gap: crate::reading::GapId) {
                $(if self.$field.is_unasked() { self.$field = crate::reading::Reading::Unknown(gap); })*
                $($(self.$inner.mark(gap);)*)?
            }

            /// Says of each leaf that nobody asked for that the host has no such thing.
            pub fn mark_absent(&mut self, source: crate::reading::SourceId) {
                $(if self.$field.is_unasked() { self.$field = crate::reading::Reading::Absent(source); })*
                $($(self.$inner.mark_absent(source);)*)?
            }
        }
    };
}

/// Declares an element of a list: fields that name it, and after `;` its readings, left out of the serialised form while
/// nobody asked for them.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$key_doc:meta])* $key:ident = $key_kind:ty,)*;
        $($(#[$field_doc:meta])* $field:ident: $kind:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$key_doc])* pub $key: $key_kind,)*
            $($(#[$field_doc])*
            #[serde(skip_serializing_if = "crate::reading::Reading::is_unasked")]
            pub $field: crate::reading::Reading<$kind>,)*
        }
    };
}

pub(super) use {row, section};
