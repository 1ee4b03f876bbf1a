//! What engines and scans share on a device: adapters, buffers, submissions and templates of kernels.

pub mod buffers;
pub mod device;
pub mod kernels;
pub mod profile;
pub mod record;
pub mod run;
pub mod template;
