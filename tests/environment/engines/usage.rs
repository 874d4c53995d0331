//! Wrong usage of the scripts: status 2 and an explanation.

use std::path::Path;
use std::process::Command;

use super::Test;

pub(crate) const TESTS: &[Test] = &[("scripts: wrong usage", &[("bash", "bash")], wrong_usage)];

/// Runs a script; returns its status and output.
fn run(script: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(project.join("scripts").join(script))
        .args(arguments)
        .current_dir(project)
        .output()
        .expect("it starts");
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    (output.status.code(), printed)
}

fn wrong_usage() {
    let cases: [(&str, &[&str], &str); 12] = [
        (
            "slurm/submit.sh",
            &[],
            "the folder of the tournament is missing",
        ),
        (
            "slurm/submit.sh",
            &["cup"],
            "the number of parts is missing: --shards N",
        ),
        (
            "slurm/submit.sh",
            &["--shards", "3", "sets"],
            "sets: there is no plan.json in it",
        ),
        (
            "slurm/submit.sh",
            &["--shards=0", "cup"],
            "--shards is '0'; expected a number",
        ),
        (
            "slurm/submit.sh",
            &["cup", "--shards"],
            "--shards needs a value",
        ),
        (
            "slurm/submit.sh",
            &["--parts=3", "cup"],
            "there is no option --parts",
        ),
        (
            "slurm/submit.sh",
            &["a", "b"],
            "there are two folders: a and b",
        ),
        (
            "parallel/run.sh",
            &["-n", "3", "-S", "a", "sets"],
            "sets: there is no plan.json in it",
        ),
        (
            "parallel/run.sh",
            &["-n", "3", "cup"],
            "no machines are named",
        ),
        (
            "parallel/run.sh",
            &["-S", "a,b", "cup"],
            "the number of parts is missing",
        ),
        (
            "parallel/run.sh",
            &["--jobs=many", "cup"],
            "--jobs is 'many'; expected a number",
        ),
        (
            "parallel/run.sh",
            &["--hosts-file", "none", "cup"],
            "none: there is no such file",
        ),
    ];
    for (script, arguments, expected) in cases {
        let (status, printed) = run(script, arguments);
        assert_eq!(status, Some(2), "{script} {arguments:?}: {printed}");
        assert!(
            printed.contains(expected),
            "{script} {arguments:?}: {printed}"
        );
        assert!(printed.contains("--help"), "{printed}");
    }
    for script in ["slurm/submit.sh", "parallel/run.sh"] {
        let (status, printed) = run(script, &["--help"]);
        assert_eq!(status, Some(0));
        assert!(printed.starts_with("usage: "), "{printed}");
        assert!(printed.contains("Exit status"), "{printed}");
    }
}
