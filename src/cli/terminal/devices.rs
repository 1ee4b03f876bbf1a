//! The output of `swalign devices`: an aligned table for terminals, tab-separated columns or JSON for programs.

use crate::engine::gpu::AdapterEntry;
use crate::terms::json::quoted;

const MIB: u64 = 1 << 20;
/// Between two columns.
const GAP: &str = "  ";
const HEADER: [&str; 10] = [
    "index",
    "name",
    "backend",
    "pci",
    "max_buffer_mib",
    "max_binding_mib",
    "workgroup_bytes",
    "subgroup",
    "driver",
    "default",
];
const CORES: &str = "this machine's cores";

/// How the devices are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Columns that line up.
    Aligned,
    Tabs,
    Json,
}

/// All devices: the adapters, then the CPU.
pub fn devices(adapters: &[AdapterEntry], form: Form) -> String {
    match form {
        Form::Aligned => aligned(&rows(adapters)),
        Form::Tabs => rows(adapters).iter().map(|row| row.join("\t") + "\n").collect(),
        Form::Json => json(adapters),
    }
}

fn rows(adapters: &[AdapterEntry]) -> Vec<Vec<String>> {
    let row = |adapter: &AdapterEntry| {
        let remark = match (adapter.is_default, adapter.software) {
            (true, _) => "default",
            (false, true) => "software: only when named",
            (false, false) => "-",
        };
        let (least, most) = adapter.subgroup_size;
        let pci = if adapter.pci.is_empty() { "-" } else { &adapter.pci };
        vec![
            adapter.index.to_string(),
            adapter.name.clone(),
            adapter.backend.clone(),
            pci.to_string(),
            (adapter.max_buffer / MIB).to_string(),
            (adapter.max_binding / MIB).to_string(),
            adapter.workgroup_memory.to_string(),
            format!("{least}-{most}"),
            adapter.driver.clone(),
            remark.to_string(),
        ]
    };
    let default = if is_cpu_default(adapters) { "default" } else { "-" };
    let cpu = ["cpu", CORES, "-", "-", "-", "-", "-", "-", "-", default];
    let words = |words: [&str; 10]| words.map(str::to_string).to_vec();
    [words(HEADER)].into_iter().chain(adapters.iter().map(row)).chain([words(cpu)]).collect()
}

fn is_cpu_default(adapters: &[AdapterEntry]) -> bool {
    !adapters.iter().any(|adapter| adapter.is_default)
}

/// Columns as wide as their widest words.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let widths = rows.iter().filter_map(|row| row.get(column)).map(|word| word.chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..HEADER.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let words: Vec<String> =
            row.iter().zip(&widths).map(|(word, &width)| format!("{word:width$}")).collect();
        words.join(GAP).trim_end().to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

/// An array of one object a device, all with the same keys. Unknown values are null.
fn json(adapters: &[AdapterEntry]) -> String {
    let object = |adapter: &AdapterEntry| {
        let (least, most) = adapter.subgroup_size;
        let pci = if adapter.pci.is_empty() { "null".to_string() } else { quoted(&adapter.pci) };
        [
            ("device", quoted(&format!("gpu:{}", adapter.index))),
            ("name", quoted(&adapter.name)),
            ("backend", quoted(&adapter.backend)),
            ("pci", pci),
            ("driver", quoted(&adapter.driver)),
            ("max_buffer_bytes", adapter.max_buffer.to_string()),
            ("max_binding_bytes", adapter.max_binding.to_string()),
            ("workgroup_bytes", adapter.workgroup_memory.to_string()),
            ("subgroup_min", least.to_string()),
            ("subgroup_max", most.to_string()),
            ("software", adapter.software.to_string()),
            ("default", adapter.is_default.to_string()),
        ]
    };
    let null = || "null".to_string();
    let cpu = [
        ("device", quoted("cpu")),
        ("name", quoted(CORES)),
        ("backend", null()),
        ("pci", null()),
        ("driver", null()),
        ("max_buffer_bytes", null()),
        ("max_binding_bytes", null()),
        ("workgroup_bytes", null()),
        ("subgroup_min", null()),
        ("subgroup_max", null()),
        ("software", "false".to_string()),
        ("default", is_cpu_default(adapters).to_string()),
    ];
    let written = |fields: [(&str, String); 12]| {
        let fields = fields.map(|(key, value)| format!("{}: {value}", quoted(key)));
        format!("  {{{}}}", fields.join(", "))
    };
    let objects: Vec<String> = adapters.iter().map(object).chain([cpu]).map(written).collect();
    format!("[\n{}\n]\n", objects.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(index: usize, name: &str, is_default: bool) -> AdapterEntry {
        AdapterEntry {
            index,
            name: name.to_string(),
            backend: "Vulkan".to_string(),
            pci: if is_default { "0000:3b:00.0".to_string() } else { String::new() },
            driver: "d 1.2".to_string(),
            software: !is_default,
            max_buffer: 3 << 30,
            max_binding: 1 << 30,
            workgroup_memory: 32768,
            subgroup_size: (8, 32),
            is_default,
        }
    }

    #[test]
    fn columns_line_up_for_people_and_have_tabs_for_programs() {
        let adapters = [adapter(0, "NVIDIA é", true), adapter(1, "llvmpipe", false)];
        let table = devices(&adapters, Form::Aligned);
        let lines: Vec<Vec<char>> = table.lines().map(|line| line.chars().collect()).collect();
        let place = |line: usize, word: &str| {
            let text: String = lines[line].iter().collect();
            text[..text.find(word).unwrap()].chars().count()
        };
        assert_eq!(place(0, "backend"), place(1, "Vulkan"));
        assert_eq!(place(0, "max_buffer_mib"), place(2, "3072"));
        assert_eq!(place(0, "default"), place(2, "software: only"));
        assert!(!table.contains('\t') && table.lines().all(|line| line == line.trim_end()));
        let tabs = devices(&adapters, Form::Tabs);
        assert!(tabs.lines().all(|line| line.split('\t').count() == HEADER.len()));
        assert!(
            tabs.starts_with("index\tname\tbackend\t") && tabs.contains("\ncpu\tthis machine's cores\t-\t")
        );
    }

    #[test]
    fn json_has_the_same_keys_for_each() {
        let adapters = [adapter(0, "a \"b\" \\ c\u{1}\t", true)];
        let said = devices(&adapters, Form::Json);
        let expected = "[\n  {\"device\": \"gpu:0\", \"name\": \"a \\\"b\\\" \\\\ c\\u0001\\t\", \"backend\": \"Vulkan\", \
                        \"pci\": \"0000:3b:00.0\", \"driver\": \"d 1.2\", \"max_buffer_bytes\": 3221225472, \
                        \"max_binding_bytes\": 1073741824, \"workgroup_bytes\": 32768, \"subgroup_min\": 8, \
                        \"subgroup_max\": 32, \"software\": false, \"default\": true},\n  {\"device\": \"cpu\", ";
        assert!(said.starts_with(expected), "{said}");
        assert!(said.ends_with("\"software\": false, \"default\": false}\n]\n"), "{said}");
        let keys = |line: &str| {
            line.split(", \"").map(|field| field.split('"').next().unwrap().to_string()).collect::<Vec<_>>()
        };
        let alone = devices(&[adapter(0, "a", false)], Form::Json);
        let lines: Vec<&str> = alone.lines().collect();
        assert_eq!(keys(lines[1])[1..], keys(lines[2])[1..]);
        assert!(lines[1].contains("\"pci\": null") && lines[2].ends_with("\"default\": true}"), "{alone}");
    }
}
