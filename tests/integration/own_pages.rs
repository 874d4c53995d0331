//! Pages to hand out: the own games, and nothing of others but their names and turns.

use std::fs;

use crate::common::Referee;

/// A bot that ends with a word on stderr when it is asked.
fn ends_saying(word: &str) -> String {
    format!("#!/bin/sh\nread -r line\necho {word} >&2\nexit 3\n")
}

#[test]
fn a_page_has_nothing_of_others() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let place = |name: &str| folder.path().join(name);
    let bots = [
        ("anna", ends_saying("secretofanna")),
        ("ben", ends_saying("secretofben")),
        (
            "cem",
            "#!/bin/sh\nexec \"$REFEREE_BIN\" bot greedy # secretofcem\n".to_owned(),
        ),
    ];
    for (name, text) in &bots {
        fs::create_dir_all(place("bots").join(name)).expect("a folder");
        fs::write(
            place("bots").join(name).join(format!("codeof{name}.sh")),
            text,
        )
        .expect("a file");
    }
    let options = [
        "tournament",
        "bots",
        "--out",
        "term",
        "--pairs",
        "1",
        "--seed",
        "1",
        "--sandbox",
        "none",
        "--no-check",
        "--bench-after",
        "0",
    ];
    let run = Referee::new(options).directory(folder.path()).run();
    assert_eq!(run.code, Some(0), "{run}");
    let run = Referee::new(["report", "term", "--each", "out"])
        .directory(folder.path())
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    for (name, _) in &bots {
        let read = |ending: &str| {
            fs::read_to_string(place("out").join(format!("{name}.{ending}"))).expect("a page")
        };
        let (text, page) = (read("md"), read("html"));
        for (other, _) in bots.iter().filter(|(other, _)| other != name) {
            for secret in [format!("secretof{other}"), format!("codeof{other}")] {
                assert!(!text.contains(&secret), "{name} sees {secret}: {text}");
                assert!(!page.contains(&secret), "{name} sees {secret}");
            }
        }
        assert!(text.contains("4 games: "), "{text}");
    }
    let anna = fs::read_to_string(place("out").join("anna.md")).expect("a page");
    for part in [
        "3 games forfeited: exited",
        "In game ",
        "It was asked `",
        "secretofanna",
        "codeofanna.sh",
        "The same question once more",
        "The same in: ",
    ] {
        assert!(anna.contains(part), "{part}: {anna}");
    }
    let run = Referee::new(["report", "term", "--each", "one", "--for", "ben"])
        .directory(folder.path())
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(fs::read_dir(place("one")).expect("a folder").count(), 2);
    let run = Referee::new(["report", "term", "--each", "one", "--for", "dora"])
        .directory(folder.path())
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("no game of this bot"), "{run}");
}

#[test]
fn who_did_not_enter_is_told_why() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let random = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n".to_owned();
    for (name, text) in [
        ("anna", random.clone()),
        ("ben", format!("{random}# another\n")),
        ("cem", ends_saying("secretofcem")),
    ] {
        let place = folder.path().join("bots").join(name);
        fs::create_dir_all(&place).expect("a folder");
        fs::write(place.join("bot.sh"), text).expect("a file");
    }
    let options = [
        "tournament",
        "bots",
        "--out",
        "term",
        "--pairs",
        "1",
        "--seed",
        "1",
        "--sandbox",
        "none",
    ];
    let run = Referee::new(options).directory(folder.path()).run();
    assert_eq!(run.code, Some(0), "{run}");
    let run = Referee::new(["report", "term", "--each", "out"])
        .directory(folder.path())
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let read = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).expect(name);
    assert!(read("cem.md").contains("secretofcem"));
    for name in ["anna.md", "anna.html"] {
        assert!(!read(name).contains("secretofcem"), "{name}");
    }
}
