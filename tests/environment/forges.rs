//! action.yml and the templates in scripts/ci: they are YAML, and their commands do what they say, on a repository with a pull
//! request, as a forge would run them. What only a forge has (images, the fetch of its own checkout) is taken for granted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tempfile::TempDir;

use crate::requirements::{program, unavailable};

type Test = fn() -> Result<(), Failed>;

pub(crate) fn trials() -> Vec<Trial> {
    let names: [(&str, Test); 6] = [
        ("forges::the_action_compares", the_action_compares),
        (
            "forges::the_action_says_what_is_missing",
            the_action_says_what_is_missing,
        ),
        (
            "forges::the_action_builds_both_versions",
            the_action_builds_both_versions,
        ),
        (
            "forges::mistakes_are_looked_for_and_asked_again",
            mistakes_are_looked_for_and_asked_again,
        ),
        ("forges::gitlab", gitlab),
        ("forges::woodpecker", woodpecker),
    ];
    for (command, package) in [("git", "git"), ("bash", "bash")] {
        if program(command, &[]).is_none() {
            let names = names.iter().map(|(name, _)| *name);
            return names
                .map(|name| unavailable(name, command, package))
                .collect();
        }
    }
    let trials = names.into_iter();
    trials.map(|(name, test)| Trial::test(name, test)).collect()
}

fn yaml(file: &str) -> Result<Value, Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    Ok(serde_yaml_ng::from_str(&fs::read_to_string(path)?)?)
}

/// A clone of a repository in which a branch has changed the bot.
struct PullRequest(TempDir);

const REFEREE: &str = env!("CARGO_BIN_EXE_referee");

impl PullRequest {
    /// Changes a bot that plays like `old` to one that plays like `new`.
    fn new(old: &str, new: &str) -> Result<Self, Failed> {
        let this = Self(tempfile::tempdir()?);
        fs::create_dir(this.path("temp"))?;
        fs::create_dir(this.path("origin"))?;
        this.git("origin", &["init", "-q", "-b", "main"])?;
        this.commit("origin", old)?;
        this.git("", &["clone", "-q", "origin", "work"])?;
        this.git("work", &["checkout", "-q", "-b", "change"])?;
        this.commit("work", new)?;
        Ok(this)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn commit(&self, folder: &str, strategy: &str) -> Result<(), Failed> {
        let text = format!("#!/bin/sh\nexec '{REFEREE}' bot {strategy}\n");
        fs::write(self.path(folder).join("bot.sh"), text)?;
        self.git(folder, &["add", "bot.sh"])?;
        self.git(folder, &["commit", "-q", "--allow-empty", "-m", strategy])
    }

    fn git(&self, folder: &str, arguments: &[&str]) -> Result<(), Failed> {
        let output = self.run("git", arguments, folder, &BTreeMap::new())?;
        if output.status.success() {
            Ok(())
        } else {
            Err(format!("git {arguments:?}: {output:?}").into())
        }
    }

    /// Runs a program with the variables of a forge, and those.
    fn run(
        &self,
        program: &str,
        arguments: &[&str],
        folder: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Output, Failed> {
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = Path::new(REFEREE).parent().ok_or("a folder")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path(folder))
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("RUNNER_TEMP", self.path("temp"))
            .env_remove("GITHUB_BASE_REF")
            .envs(variables);
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
        ] {
            command.env(name, value);
        }
        for file in ["GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
            command.env(file, self.path(file));
        }
        Ok(command.output()?)
    }

    /// Runs the steps of the action with these inputs, each as `shell: bash` does. Returns what the last one that was run printed.
    fn action(&self, inputs: &[(&str, &str)], base: &str) -> Result<Output, Failed> {
        let action = yaml("action.yml")?;
        let mut given: BTreeMap<String, String> = BTreeMap::new();
        for (name, input) in action["inputs"].as_object().ok_or("inputs")? {
            let default = input["default"].as_str();
            assert_eq!(default.is_none(), input["required"] == true, "{name}");
            given.insert(name.clone(), default.unwrap_or_default().to_owned());
        }
        for (name, value) in inputs {
            let known = given.insert((*name).to_owned(), (*value).to_owned());
            assert!(known.is_some(), "the action has no input {name}");
        }
        let mut last = None;
        for step in action["runs"]["steps"].as_array().ok_or("steps")? {
            assert_eq!(step["shell"], "bash");
            let mut variables = BTreeMap::new();
            for (name, value) in step["env"].as_object().ok_or("variables")? {
                let expression = value.as_str().unwrap_or_default();
                let expression = expression
                    .trim_start_matches("${{ ")
                    .trim_end_matches(" }}");
                let value = match expression.strip_prefix("inputs.") {
                    Some(input) => given.get(input).ok_or("an unknown input")?.clone(),
                    None if expression == "github.action_path" => "/nowhere".to_owned(),
                    None => return Err(format!("an unknown expression {expression}").into()),
                };
                variables.insert(name.clone(), value);
            }
            if !base.is_empty() {
                variables.insert("GITHUB_BASE_REF".to_owned(), base.to_owned());
            }
            let script = step["run"].as_str().ok_or("a script")?;
            assert!(!script.contains("${{"), "inputs are no part of a script");
            let arguments = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
            let output = self.run("bash", &arguments, "work", &variables)?;
            let is_over = !output.status.success();
            last = Some(output);
            if is_over {
                break;
            }
        }
        last.ok_or_else(|| "no steps".into())
    }

    fn read(&self, name: &str) -> Result<String, Failed> {
        Ok(fs::read_to_string(self.path(name))?)
    }
}

/// Inputs of the action: games are quick without a sandbox, which a container may not have.
const INPUTS: [(&str, &str); 3] = [
    ("bot", "bot.sh"),
    ("program", REFEREE),
    ("options", "--sandbox none --seed 1 --pairs 40"),
];

fn the_action_compares() -> Result<(), Failed> {
    for (old, new, more, code, verdict) in [
        (
            "random",
            "greedy",
            &[("pool", "builtin:random")][..],
            0,
            "better",
        ),
        ("greedy", "random", &[], 3, "not-better"),
        ("random", "random", &[("budget", "1ms")], 0, "undecided"),
        (
            "random",
            "random",
            &[("budget", "1ms"), ("fail-if-undecided", "true")],
            4,
            "undecided",
        ),
    ] {
        let request = PullRequest::new(old, new)?;
        let output = request.action(&[&INPUTS, more].concat(), "main")?;
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let outputs = request.read("GITHUB_OUTPUT")?;
        assert!(
            outputs.contains(&format!("verdict={verdict}\n")),
            "{outputs}"
        );
        let summary = request.read("GITHUB_STEP_SUMMARY")?;
        assert!(summary.starts_with("### "), "{summary}");
        let bin = request.read("GITHUB_PATH")?;
        assert!(Path::new(bin.trim()).join("referee").exists(), "{bin}");
    }
    Ok(())
}

fn the_action_says_what_is_missing() -> Result<(), Failed> {
    let request = PullRequest::new("random", "greedy")?;
    let output = request.action(&INPUTS, "")?;
    assert!(!output.status.success(), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("give the input old"), "{stderr}");
    // A revision needs no pull request.
    let output = request.action(&[&INPUTS[..], &[("old", "HEAD~1")]].concat(), "")?;
    assert!(output.status.success(), "{output:?}");
    // A bot that the old version does not have.
    let request = PullRequest::new("random", "greedy")?;
    fs::copy(request.path("work/bot.sh"), request.path("work/other.sh"))?;
    let output = request.action(&[&INPUTS[..], &[("bot", "other.sh")]].concat(), "main")?;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("there is no such file"), "{stderr}");
    Ok(())
}

fn the_action_builds_both_versions() -> Result<(), Failed> {
    let request = PullRequest::new("random", "greedy")?;
    let more = [("build", "cp bot.sh built.sh"), ("bot", "built.sh")];
    let output = request.action(&[&INPUTS[..], &more].concat(), "main")?;
    assert!(output.status.success(), "{output:?}");
    let [new, old] = ["work", "temp/old"].map(|folder| request.read(&format!("{folder}/built.sh")));
    assert_ne!(new?, old?);
    Ok(())
}

/// The commands of a step, one after another, as one script that ends at the first failure.
fn script(commands: &Value) -> Result<String, Failed> {
    let commands = commands.as_array().ok_or("commands")?.iter();
    let commands: Option<Vec<&str>> = commands.map(Value::as_str).collect();
    Ok(commands.ok_or("texts")?.join("\n"))
}

/// The variables of a step as they are set for its commands.
fn variables(of: &Value) -> BTreeMap<String, String> {
    let all = of.as_object().into_iter().flatten();
    all.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .chain(
            [("BOT", "bot.sh"), ("OPTIONS", "--sandbox none --pairs 40")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        )
        .collect()
}

fn gitlab() -> Result<(), Failed> {
    let job = yaml("scripts/ci/gitlab-ci.yml")?["compare"].clone();
    assert_eq!(job["allow_failure"]["exit_codes"], 4);
    assert_eq!(job["artifacts"]["paths"][0], "compare.md");
    let request = PullRequest::new("random", "greedy")?;
    let mut variables = variables(&job["variables"]);
    let builds = request.path("temp").display().to_string();
    variables.insert("CI_BUILDS_DIR".to_owned(), builds);
    let base = "CI_MERGE_REQUEST_DIFF_BASE_SHA".to_owned();
    variables.insert(base, "origin/main".to_owned());
    let script = script(&job["script"])?;
    let output = request.run("sh", &["-ec", &script], "work", &variables)?;
    assert!(output.status.success(), "{output:?}");
    let written = request.read("work/compare.md")?;
    assert!(
        written.starts_with("### bot.sh (new) is better"),
        "{written}"
    );
    Ok(())
}

fn woodpecker() -> Result<(), Failed> {
    let pipeline = yaml("scripts/ci/woodpecker.yml")?;
    assert_eq!(pipeline["when"][0]["event"], "pull_request");
    let step = &pipeline["steps"][0];
    for (old, new, budget, code) in [
        ("random", "greedy", "10m", 0),
        ("greedy", "random", "10m", 3),
        ("random", "random", "1ms", 0),
    ] {
        let request = PullRequest::new(old, new)?;
        let mut variables = variables(&step["environment"]);
        variables.insert("BUDGET".to_owned(), budget.to_owned());
        variables.insert("CI_COMMIT_TARGET_BRANCH".to_owned(), "main".to_owned());
        // Not the folder of the container.
        let folder = request.path("temp/old").display().to_string();
        let script = script(&step["commands"])?.replace("/tmp/old", &folder);
        let output = request.run("sh", &["-ec", &script], "work", &variables)?;
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains("### "), "{output:?}");
    }
    Ok(())
}

/// What a hunt found in a bot is a failure when it is kept and made again, and none otherwise.
fn mistakes_are_looked_for_and_asked_again() -> Result<(), Failed> {
    let request = PullRequest::new("random", "greedy")?;
    let bots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bots");
    // It answers the same question alike.
    fs::copy(bots.join("thinks-aloud.sh"), request.path("work/bot.sh"))?;
    let job = yaml("scripts/ci/gitlab-ci.yml")?["hunt"].clone();
    let step = yaml("scripts/ci/woodpecker.yml")?["steps"][1].clone();
    for (of, commands) in [
        (&job["variables"], &job["script"]),
        (&step["environment"], &step["commands"]),
    ] {
        let mut variables = variables(of);
        for (name, value) in [("HUNT", "6s"), ("HUNT_OPTIONS", "--sandbox none")] {
            assert!(
                variables
                    .insert(name.to_owned(), value.to_owned())
                    .is_some()
            );
        }
        let script = script(commands)?;
        let run = || request.run("sh", &["-ec", &script], "work", &variables);
        // On a busy machine the first may come to nothing.
        for _ in 0..5 {
            let output = run()?;
            assert!(output.status.success(), "{output:?}");
            if !request.read("work/found.jsonl")?.is_empty() {
                break;
            }
        }
        fs::rename(
            request.path("work/found.jsonl"),
            request.path("work/mistakes.jsonl"),
        )?;
        let output = run()?;
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        fs::rename(
            request.path("work/mistakes.jsonl"),
            request.path("work/kept.jsonl"),
        )?;
    }
    let options = [
        ("hunt-options", "--sandbox none"),
        ("hunt", "6s"),
        ("budget", "1ms"),
    ];
    let output = request.action(&[&INPUTS[..], &options].concat(), "main")?;
    assert!(output.status.success(), "{output:?}");
    assert!(request.read("GITHUB_STEP_SUMMARY")?.contains("Tried: "));
    let found = request.read("GITHUB_OUTPUT")?;
    assert!(found.contains("found="), "{found}");
    let old = request.path("temp/old").display().to_string();
    request.git("work", &["worktree", "remove", "--force", &old])?;
    let kept = [("mistakes", "kept.jsonl")];
    let output = request.action(&[&INPUTS[..], &options, &kept].concat(), "main")?;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    Ok(())
}
