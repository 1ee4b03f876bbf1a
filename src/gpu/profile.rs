//! Limits of other adapters, to which an adapter can be reduced, so that kernels and plans can be tested with lower
//! limits than those of the available adapter. The name of a profile after that of an adapter selects it, as in
//! `--device gpu:llvmpipe/webgpu`.
//!
//! A profile only lowers limits: a limit that is already lower stays as it is. No profile has subgroups of a fixed size
//! on which kernels could rely.

/// The limits of compute kernels on one kind of adapter.
#[derive(Debug, PartialEq, Eq)]
pub struct AdapterProfile {
    pub name: &'static str,
    /// Bytes of a buffer, and of a binding.
    buffer: u64,
    binding: u64,
    /// Bytes of a workgroup's memory, and its number of threads.
    workgroup_memory: u32,
    threads: u32,
    /// Maximum number of workgroups of a dispatch in each dimension.
    workgroups: u32,
    /// Maximum number of storage buffers of a kernel.
    storage_buffers: u32,
    subgroups: Subgroups,
    /// Maximum number of bytes of targets on the device at once; larger targets are uploaded piece by piece.
    pub targets: u64,
}

/// Support for subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subgroups {
    /// There are none.
    Absent,
    /// The driver chooses their size for each kernel, so that no kernel can rely on a size.
    OfAnySize,
}

const KIB: u32 = 1 << 10;
const MIB: u64 = 1 << 20;

/// All profiles, with the sources of their numbers. The last one is that of no real adapter.
pub const PROFILES: [AdapterProfile; 6] = [
    // Limits that every adapter supports through WebGPU: https://www.w3.org/TR/webgpu/#limits, column "Default".
    AdapterProfile {
        name: "webgpu",
        buffer: 256 * MIB,
        binding: 128 * MIB,
        workgroup_memory: 16 * KIB,
        threads: 256,
        workgroups: 65535,
        storage_buffers: 8,
        subgroups: Subgroups::Absent,
        targets: u64::MAX,
    },
    // Mesa's driver for Gfx9 to Gfx12 (src/intel/vulkan/anv_physical_device.c): the smallest of its buffer sizes,
    // subgroups of 8 to 32.
    AdapterProfile {
        name: "intel",
        buffer: 1024 * MIB,
        binding: 1024 * MIB,
        workgroup_memory: 64 * KIB,
        threads: 1024,
        workgroups: 65535,
        storage_buffers: u32::MAX,
        subgroups: Subgroups::OfAnySize,
        targets: u64::MAX,
    },
    // Mesa's driver for RDNA (src/amd/vulkan/radv_physical_device.c): subgroups of 32 or 64. wgpu limits bindings on
    // Vulkan to less than 2 GiB.
    AdapterProfile {
        name: "amd",
        buffer: 2048 * MIB,
        binding: 2048 * MIB - 1,
        workgroup_memory: 64 * KIB,
        threads: 1024,
        workgroups: 65535,
        storage_buffers: u32::MAX,
        subgroups: Subgroups::OfAnySize,
        targets: u64::MAX,
    },
    // Metal in wgpu (wgpu-hal 30, src/metal/adapter.rs, after Apple's Metal-Feature-Set-Tables.pdf): subgroups of 4 to
    // 64. The buffer size is the smallest that is guaranteed on a Mac.
    AdapterProfile {
        name: "apple",
        buffer: 1024 * MIB,
        binding: 1024 * MIB,
        workgroup_memory: 32 * KIB,
        threads: 1024,
        workgroups: 65535,
        storage_buffers: 31,
        subgroups: Subgroups::OfAnySize,
        targets: u64::MAX,
    },
    // DX12 in wgpu without DXC, Microsoft's newer compiler (wgpu-hal 30, src/dx12/adapter.rs): shader model 5.1 has no
    // subgroups.
    AdapterProfile {
        name: "dx12",
        buffer: 2048 * MIB - 1,
        binding: 2048 * MIB - 1,
        workgroup_memory: 32 * KIB,
        threads: 1024,
        workgroups: 65535,
        storage_buffers: 16,
        subgroups: Subgroups::Absent,
        targets: u64::MAX,
    },
    // A card that is far too small for any targets; its other limits are unchanged.
    AdapterProfile {
        name: "pieces",
        buffer: u64::MAX,
        binding: u64::MAX,
        workgroup_memory: u32::MAX,
        threads: u32::MAX,
        workgroups: u32::MAX,
        storage_buffers: u32::MAX,
        subgroups: Subgroups::OfAnySize,
        targets: 2048,
    },
];

impl AdapterProfile {
    /// Splits a device name into the name of an adapter and the profile after it, if there is one.
    pub fn split(wanted: &str) -> (&str, Option<&'static AdapterProfile>) {
        let split = wanted.rsplit_once('/');
        let known = |name: &str| PROFILES.iter().find(|profile| profile.name == name);
        match split.and_then(|(adapter, name)| Some((adapter, known(name)?))) {
            Some((adapter, profile)) => (adapter, Some(profile)),
            None => (wanted, None),
        }
    }

    /// The limits that remain of an adapter's limits.
    pub fn cut(&self, has: wgpu::Limits) -> wgpu::Limits {
        wgpu::Limits {
            max_buffer_size: has.max_buffer_size.min(self.buffer),
            max_storage_buffer_binding_size: has.max_storage_buffer_binding_size.min(self.binding),
            max_compute_workgroup_storage_size: has
                .max_compute_workgroup_storage_size
                .min(self.workgroup_memory),
            max_compute_invocations_per_workgroup: has
                .max_compute_invocations_per_workgroup
                .min(self.threads),
            max_compute_workgroup_size_x: has.max_compute_workgroup_size_x.min(self.threads),
            max_compute_workgroups_per_dimension: has
                .max_compute_workgroups_per_dimension
                .min(self.workgroups),
            max_storage_buffers_per_shader_stage: has
                .max_storage_buffers_per_shader_stage
                .min(self.storage_buffers),
            ..has
        }
    }

    /// The features that remain.
    pub fn features(&self) -> wgpu::Features {
        match self.subgroups {
            Subgroups::Absent => wgpu::Features::all() - wgpu::Features::SUBGROUP,
            Subgroups::OfAnySize => wgpu::Features::all(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AdapterProfile, PROFILES};

    #[test]
    fn profiles_stand_behind_names() {
        let split = |wanted| {
            let (name, profile) = AdapterProfile::split(wanted);
            (name, profile.map(|profile| profile.name))
        };
        assert_eq!(split("llvmpipe"), ("llvmpipe", None));
        assert_eq!(split("llvmpipe/webgpu"), ("llvmpipe", Some("webgpu")));
        // Some names of adapters contain a slash.
        assert_eq!(split("Radeon R7 / R9"), ("Radeon R7 / R9", None));
        assert_eq!(split("Radeon R7 / R9/amd"), ("Radeon R7 / R9", Some("amd")));
    }

    #[test]
    fn profiles_only_take_away() {
        for profile in &PROFILES {
            // WebGPU's limits for every adapter are the lowest possible, and may not be reduced further.
            let least = wgpu::Limits::defaults();
            assert_eq!(profile.cut(least.clone()), least, "{}", profile.name);
        }
        let webgpu = PROFILES[0].cut(wgpu::Limits { max_buffer_size: 1 << 40, ..wgpu::Limits::defaults() });
        assert_eq!(webgpu, wgpu::Limits::defaults());
    }
}
