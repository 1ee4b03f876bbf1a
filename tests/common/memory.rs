//! Peak memory of a command, as Linux measures it.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

/// Runs a command to its end. Returns its peak memory in MiB and its output. Its stdin is empty unless it was set.
pub fn peak_mib(command: &mut Command) -> (u64, Output) {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.expect("a pipe").read_to_end(&mut bytes).expect("what it writes");
            bytes
        })
    };
    let stdout = read(stdout.map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let stderr = read(stderr.map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let mut peak = 0;
    let status = loop {
        // The kernel keeps the peak, so sampling misses only growth right before the end.
        peak = high_water_kib(child.id()).unwrap_or(0).max(peak);
        match child.try_wait().expect("its status") {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    let join = |thread: thread::JoinHandle<Vec<u8>>| thread.join().expect("a pipe that can be read");
    (peak / 1024, Output { status, stdout: join(stdout), stderr: join(stderr) })
}

/// VmHWM of a process, or `None` if the process has ended.
fn high_water_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
