//! A command that is printed for a person to give works as it stands, in the folder where it was printed, also where
//! names have spaces.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::common::files::executable;
use crate::common::{Run, bots, plain_directory, printed};

/// What prints commands.
struct Case {
    name: &'static str,
    /// What was done before; it succeeds.
    before: &'static str,
    /// What prints commands, on stdout or stderr.
    prints: &'static str,
    /// The beginnings of the commands that it prints, all of them, in their order.
    commands: &'static [&'static str],
    /// What is printed or written when all of them have been given: a shell's test.
    after: &'static str,
}

const FEW: &str = "--no-check --pairs 1 --seed 1";
const TWO: &str = "--no-check --pairs 2 --seed 1";

const CASES: [Case; 25] = [
    Case {
        name: "check of a wrong answer",
        before: "",
        prints: "referee check 'my wrong.sh'",
        commands: &["printf "],
        after: "grep -q what given",
    },
    Case {
        name: "verbose match lost by a fault",
        before: "",
        prints: "referee -v --seed 1 './my wrong.sh' builtin:random",
        commands: &["printf "],
        after: "grep -q what given",
    },
    Case {
        name: "hunt",
        before: "",
        prints: "referee hunt --time 1s --seed 1 './my wrong.sh'",
        commands: &["printf ", "referee debug "],
        after: "grep -q what given",
    },
    Case {
        name: "folder that may be a class",
        before: "",
        prints: "referee -v 'my class' builtin:random",
        commands: &["referee check --each ", "referee tournament "],
        after: "test -s tournament-*/standings.csv",
    },
    Case {
        name: "tournament in parts: planned",
        before: "",
        prints: "referee shard plan FEW --out 'my parts' builtin:random builtin:greedy",
        commands: &["referee shard run ", "referee shard merge "],
        after: "test -s 'my parts/games.jsonl'",
    },
    Case {
        name: "tournament in parts: played",
        before: "referee shard plan FEW --out 'my parts' builtin:random builtin:greedy",
        prints: "referee shard run 'my parts' --shard 1/1",
        commands: &["referee shard merge "],
        after: "test -s 'my parts/games.jsonl'",
    },
    Case {
        name: "tournament in parts: nothing planned",
        before: "",
        prints: "referee shard run 'my parts' --shard 1/1",
        commands: &["referee shard plan "],
        after: "ls */plan.json",
    },
    Case {
        name: "tournament in parts: nothing played",
        before: "referee shard plan FEW --out 'my parts' builtin:random builtin:greedy",
        prints: "referee shard merge 'my parts'",
        commands: &["referee shard run "],
        after: "referee shard merge 'my parts'",
    },
    Case {
        name: "tournament in parts: one part missing",
        before: "referee shard plan TWO --out 'my parts' builtin:random builtin:greedy && referee shard run 'my parts' --shard 1/2",
        prints: "referee shard merge 'my parts'",
        commands: &["referee shard run "],
        after: "referee shard merge 'my parts'",
    },
    Case {
        name: "tournament in parts: read before it is put together",
        before: "referee shard plan FEW --out 'my parts' builtin:random builtin:greedy && referee shard run 'my parts' --shard 1/1",
        prints: "referee standings 'my parts'",
        commands: &["referee shard merge "],
        after: "referee standings 'my parts'",
    },
    Case {
        name: "rounds in parts",
        before: "referee shard plan FEW --format swiss --rounds 2 --out 'my parts' builtin:random builtin:greedy builtin:safe builtin:wins && referee shard run 'my parts' --shard 1/1",
        prints: "referee shard merge 'my parts'",
        commands: &["referee shard plan --next "],
        after: "referee shard run 'my parts' --shard 1/1 && referee shard merge 'my parts'",
    },
    Case {
        name: "interrupted tournament",
        before: "touch wait",
        prints: "referee tournament FEW --jobs 1 --sandbox none --move-time 1h --out 'my cup' ./waits.sh builtin:random 2>said & \
                 until [ -e asked ]; do sleep 0.05; done; kill -TERM $!; \
                 until grep -q 'finishing the current games' said; do sleep 0.05; done; rm wait; wait $!; cat said",
        commands: &["referee tournament "],
        after: "test -s 'my cup/standings.csv'",
    },
    Case {
        name: "league: final not announced",
        before: "referee league FEW --from 'my class' term",
        prints: "referee league final term",
        commands: &["referee league final "],
        after: "referee league final term",
    },
    Case {
        name: "league: final announced",
        before: "referee league FEW --from 'my class' 'my term'",
        prints: "referee league final 'my term' --announce",
        commands: &["referee league final "],
        after: "ls -d 'my term/final'",
    },
    Case {
        name: "league: final of no games",
        before: "referee league FEW --from 'my class' 'my term' && rm 'my term/plan.json' 'my term/games.jsonl'",
        prints: "referee league final 'my term' --announce",
        commands: &["referee league "],
        after: "test -e 'my term'",
    },
    Case {
        name: "league: final with a version that is not checked",
        before: "touch -d 2019-01-01 'my class/'* && referee league FEW --from 'my class' --deadline 2020-01-01 'my term' && \
                 echo >>'my class/ann.sh' && touch -d 2021-01-01 'my class/ann.sh' && referee league FEW --from 'my class' 'my term'",
        prints: "referee league final 'my term' --announce --deadline 2022-01-01",
        commands: &["referee league deadline ", "referee league "],
        after: "referee league final 'my term' --announce --deadline 2022-01-01 && grep -c ann 'my term/final/plan.json'",
    },
    Case {
        name: "league: a bot withdrawn",
        before: "referee league FEW --from 'my class' 'my term'",
        prints: "referee league withdraw 'my term' ann",
        commands: &["referee league "],
        after: "test -e 'my term'",
    },
    Case {
        name: "grades",
        before: "",
        prints: "referee grade --scale scale.toml --only ann.sh 'my class' --out 'my grades'; cat 'my grades/'*/grade.md",
        commands: &["referee replay ", "referee grade "],
        after: "[ \"$(cat 'my grades/ann.sh/results.json')\" = \"$(cat graded-again/ann.sh/results.json)\" ]",
    },
    Case {
        name: "position that is two arguments",
        before: "",
        prints: "referee solve A..PC...J..EF... G",
        commands: &["referee solve "],
        after: "grep -q '^Draw' given",
    },
    Case {
        name: "tournament of one bot that can enter",
        before: "referee new sh 'my new.sh'",
        prints: "referee tournament --pairs 1 builtin:random './my wrong.sh'",
        commands: &["printf ", "referee check BOT"],
        after: "grep -q what given",
    },
    Case {
        name: "alike with starter code that does not answer",
        before: "",
        prints: "referee alike --time 10s --starter './my dumb.sh' 'my class'",
        commands: &["referee check './my dumb.sh'"],
        after: "grep -q 'exit status 1' given",
    },
    Case {
        name: "puzzles: a recorded game",
        before: "referee --record 'my games.jsonl' --seed 1 builtin:random builtin:random",
        prints: "referee puzzles run 'my games.jsonl' builtin:random",
        commands: &["referee puzzles make "],
        after: "referee puzzles run 'my puzzles.jsonl' builtin:greedy",
    },
    Case {
        name: "puzzles: an empty file",
        before: "referee --record 'my games.jsonl' --seed 1 builtin:random builtin:random && touch empty",
        prints: "referee puzzles run empty builtin:random",
        commands: &["referee puzzles make "],
        after: "referee puzzles page 'my puzzles.jsonl' -o page.html",
    },
    Case {
        name: "puzzles: a folder",
        before: "referee --record 'my games.jsonl' --seed 1 builtin:random builtin:random",
        prints: "referee puzzles run 'my class' builtin:random",
        commands: &["referee puzzles make "],
        after: "test -s 'my puzzles.jsonl'",
    },
    Case {
        name: "starter",
        before: "",
        prints: "referee new sh 'my new.sh'",
        commands: &["referee -v ", "referee check "],
        after: "true",
    },
];

/// What the words in capitals of printed commands stand for.
const PLACEHOLDERS: [(&str, &str); 7] = [
    ("BOT", "'./my new.sh'"),
    ("BOT1", "builtin:random"),
    ("BOT2", "builtin:greedy"),
    ("FILE", "'my games.jsonl'"),
    ("FOLDER", "'my folder'"),
    ("I/N", "1/1"),
    ("PUZZLES", "'my puzzles.jsonl'"),
];

fn place(folder: &Path) {
    let executable = |name: &str, text: &[u8]| executable(&folder.join(name), text, 0o755);
    let lib = fs::read(bots().join("lib.sh")).expect("lib.sh");
    fs::write(folder.join("lib.sh"), &lib).expect("lib.sh");
    executable(
        "my wrong.sh",
        b"#!/bin/sh\nwhile read -r line; do echo what; done\n",
    );
    executable("my dumb.sh", b"#!/bin/sh\nexit 1\n");
    let waits = b"#!/bin/sh\n. \"${0%/*}/lib.sh\"\nwhile read -r request; do\n    : >asked\n    while [ -e wait ]; do sleep 0.05; done\n    answer \"$request\"\ndone\n";
    executable("waits.sh", waits);
    let class = folder.join("my class");
    fs::create_dir(&class).expect("a folder");
    for name in ["ann.sh", "ben.sh", "cem.sh"] {
        let text = format!("{}# {name}\n", include_str!("../../players/random.sh"));
        crate::common::files::executable(&class.join(name), text, 0o755);
    }
    let rung = "[[rung]]\nname = \"random\"\nbot = \"builtin:random\"\nelo0 = 0\nelo1 = 200\npoints = 10\n";
    let scale = format!("seed = 1\nbudget = 2\n{rung}");
    fs::write(folder.join("scale.toml"), scale).expect("a scale");
}

fn try_case(case: &Case) -> Result<(), String> {
    let scratch = plain_directory();
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).expect("its mode");
    let folder = &scratch.path().join("my place");
    fs::create_dir(folder).expect("a folder");
    place(folder);
    let words = |script: &str| script.replace("FEW", FEW).replace("TWO", TWO);
    let said_by = |run: &Run| format!("{}{}", run.stdout, run.stderr);
    let succeeds = |script: &str| {
        let run = printed::shell(folder, &words(script));
        if run.code == Some(0) {
            Ok(())
        } else {
            Err(format!("{}: {script}\n{run}", case.name))
        }
    };
    succeeds(case.before)?;
    let said = said_by(&printed::shell(folder, &words(case.prints)));
    let commands = printed::commands(&said);
    let is_as_expected = commands.len() == case.commands.len()
        && commands
            .iter()
            .zip(case.commands)
            .all(|(command, beginning)| command.starts_with(beginning));
    if !is_as_expected {
        return Err(format!("{}: printed {commands:?} in\n{said}", case.name));
    }
    let mut given = String::new();
    for command in &commands {
        let run = printed::run(folder, command, &PLACEHOLDERS);
        // 3: a bot plays mistakes.
        if !matches!(run.code, Some(0 | 3)) {
            return Err(format!("{}: {command}\n{run}", case.name));
        }
        given += &run.stdout;
    }
    fs::write(folder.join("given"), given).expect("what they printed");
    succeeds(case.after)
}

#[test]
fn printed_commands_do_what_they_say_as_they_stand() {
    let problems: Vec<String> = CASES
        .iter()
        .filter_map(|case| try_case(case).err())
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}
