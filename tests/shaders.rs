//! Every kernel variant is valid WGSL, as far as can be told without a GPU.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use swalign::engine::gpu::shader::Variant;

#[test]
fn every_variant_is_valid() {
    let variants = Variant::all();
    assert!(variants.len() > 20, "variants are missing");
    for variant in variants {
        let text = variant.wgsl();
        let module = naga::front::wgsl::parse_str(&text)
            .unwrap_or_else(|error| panic!("{variant:?}: {}", error.emit_to_string(&text)));
        let outcome = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
        assert!(outcome.is_ok(), "{variant:?}: {:?}", outcome.err());
    }
}

/// The host's record of a task is laid out as the kernels read it.
#[test]
fn tasks_lie_as_the_host_writes_them() {
    for variant in Variant::all() {
        let module = naga::front::wgsl::parse_str(&variant.wgsl()).unwrap();
        let (_, task) = module.types.iter().find(|(_, kind)| kind.name.as_deref() == Some("Task")).unwrap();
        let naga::TypeInner::Struct { span, .. } = task.inner else { panic!("a task is a struct") };
        assert_eq!(span as usize, size_of::<swalign::engine::gpu::layout::Task>());
    }
}
