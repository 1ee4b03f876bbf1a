//! Records that host and kernels share, declared once for both.

use bytemuck::Pod;

/// Description of a record, which the tests compare with the kernels' source.
#[derive(Clone, Copy, Debug)]
pub struct TaskRecord {
    pub name: &'static str,
    /// The record in WGSL.
    pub wgsl: fn() -> String,
    pub bytes: usize,
}

/// A record in a buffer of tasks, or in the table after them.
pub trait Recorded: Pod + Default + Send + Sync {
    const RECORD: TaskRecord;
}

/// Declares a record once, for host and kernels. The fields of the record that it is `over` come first.
macro_rules! record {
    ($(#[$what:meta])* $name:ident $(over $span:ident)? { $($(#[$doc:meta])* $field:ident: $kind:ident,)* }) => {
        $(#[$what])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $name {
            $(/// What it is about.
            pub span: $span,)?
            $($(#[$doc])* pub $field: $kind,)*
        }

        impl $name {
            /// Its fields in WGSL.
            pub fn fields() -> String {
                let mut text = String::new();
                $(text.push_str(&$span::fields());)?
                $(text.push_str(concat!("    ", stringify!($field), ": ", stringify!($kind), ",\n"));)*
                text
            }

            /// The record in WGSL.
            pub fn wgsl() -> String {
                format!(concat!("struct ", stringify!($name), " {{\n{}}}\n"), $name::fields())
            }
        }

        impl $crate::gpu::record::Recorded for $name {
            const RECORD: $crate::gpu::record::TaskRecord = $crate::gpu::record::TaskRecord {
                name: stringify!($name),
                wgsl: $name::wgsl,
                bytes: size_of::<$name>(),
            };
        }

    };
}
pub(crate) use record;
