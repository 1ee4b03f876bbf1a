//! Limits of other adapters, to which one is cut down: so kernels and plans are tried where less is allowed than the adapter at
//! hand allows. The name of a profile behind that of an adapter asks for it, as in `--device gpu:llvmpipe/webgpu`.
//!
//! A profile only takes away: what the adapter has less of stays as it is. No profile has subgroups of one size, on which kernels
//! could count.

/// What an adapter of some kind allows compute kernels.
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    pub name: &'static str,
    /// Bytes of a buffer, and of what is bound of it.
    buffer: u64,
    binding: u64,
    /// Bytes of a workgroup's memory, and its threads.
    workgroup_memory: u32,
    threads: u32,
    /// Workgroups of a dispatch in each dimension.
    workgroups: u32,
    /// Storage buffers of a kernel.
    storage_buffers: u32,
    subgroups: Subgroups,
    /// Bytes of targets at a time; larger ones go to the device piece by piece.
    pub targets: u64,
}

/// What is known of subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subgroups {
    /// There are none.
    Absent,
    /// The driver chooses their size for each kernel, so that no kernel can count on one.
    OfAnySize,
}

const KIB: u32 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Each with where its numbers stand, and one that is no adapter's.
pub const PROFILES: [Profile; 6] = [
    // What every adapter allows through WebGPU: https://www.w3.org/TR/webgpu/#limits, column "Default".
    Profile {
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
    // Mesa's driver for Gfx9 to Gfx12 (src/intel/vulkan/anv_physical_device.c): the least of its buffer sizes, subgroups of
    // 8 to 32.
    Profile {
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
    // Mesa's driver for RDNA (src/amd/vulkan/radv_physical_device.c): subgroups of 32 or 64. wgpu keeps bindings on Vulkan
    // below 2 GiB.
    Profile {
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
    // Metal as wgpu has it (wgpu-hal 30, src/metal/adapter.rs, after Apple's Metal-Feature-Set-Tables.pdf): subgroups of 4
    // to 64. The least buffer that it takes for sure on a Mac.
    Profile {
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
    // DX12 as wgpu has it without DXC, Microsoft's newer compiler (wgpu-hal 30, src/dx12/adapter.rs): shader model 5.1 has
    // no subgroups.
    Profile {
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
    // A card that is far too small for any targets, all else as it is.
    Profile {
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

impl Profile {
    /// The name of an adapter without that of a profile behind it, and the profile.
    pub fn split(wanted: &str) -> (&str, Option<&'static Profile>) {
        let split = wanted.rsplit_once('/');
        let known = |name: &str| PROFILES.iter().find(|profile| profile.name == name);
        match split.and_then(|(adapter, name)| Some((adapter, known(name)?))) {
            Some((adapter, profile)) => (adapter, Some(profile)),
            None => (wanted, None),
        }
    }

    /// The limits that are left of an adapter's.
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

    /// The features that are left.
    pub fn features(&self) -> wgpu::Features {
        match self.subgroups {
            Subgroups::Absent => wgpu::Features::all() - wgpu::Features::SUBGROUP,
            Subgroups::OfAnySize => wgpu::Features::all(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PROFILES, Profile};

    #[test]
    fn profiles_stand_behind_names() {
        let split = |wanted| {
            let (name, profile) = Profile::split(wanted);
            (name, profile.map(|profile| profile.name))
        };
        assert_eq!(split("llvmpipe"), ("llvmpipe", None));
        assert_eq!(split("llvmpipe/webgpu"), ("llvmpipe", Some("webgpu")));
        // As some names of adapters have it.
        assert_eq!(split("Radeon R7 / R9"), ("Radeon R7 / R9", None));
        assert_eq!(split("Radeon R7 / R9/amd"), ("Radeon R7 / R9", Some("amd")));
    }

    #[test]
    fn profiles_only_take_away() {
        for profile in &PROFILES {
            // What WebGPU has every adapter allow is the least of all, and may be cut no further.
            let least = wgpu::Limits::defaults();
            assert_eq!(profile.cut(least.clone()), least, "{}", profile.name);
        }
        let webgpu = PROFILES[0].cut(wgpu::Limits { max_buffer_size: 1 << 40, ..wgpu::Limits::defaults() });
        assert_eq!(webgpu, wgpu::Limits::defaults());
    }
}
