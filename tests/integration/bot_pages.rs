//! Pages to hand out: the own games, and nothing of others but their names and turns.

use std::fs;

use crate::classroom::{Class, GREEDY, RANDOM, SETTINGS};

/// A bot that ends with a word on stderr when it is asked.
fn ends_saying(word: &str) -> String {
    format!("#!/bin/sh\nread -r line\necho {word} >&2\nexit 3\n")
}

#[test]
fn a_page_has_nothing_of_others() {
    let class = Class::of(&[]);
    let place = |name: &str| class.path(name);
    let bots = [
        ("anna", ends_saying("secretofanna")),
        ("ben", ends_saying("secretofben")),
        ("cem", format!("{} # secretofcem\n", GREEDY.trim_end())),
    ];
    for (name, text) in &bots {
        class.write(&format!("bots/{name}/codeof{name}.sh"), text);
    }
    class.play("term", &["bots", "--no-check", "--bench-after", "0"]);
    class.run(&["report", "term", "--each", "out"]);
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
        "The same once more",
        "The same in: ",
    ] {
        assert!(anna.contains(part), "{part}: {anna}");
    }
}

#[test]
fn a_page_beside_its_bot_is_no_change_of_it() {
    let class = Class::of(&[("bots/anna/bot.sh", RANDOM), ("bots/ben/bot.sh", GREEDY)]);
    let hash = |term: &str| {
        class.play(term, &["bots"]);
        class.json(&format!("{term}/plan.json"))["bots"][0]["hash"].clone()
    };
    let before = hash("before");
    class.run(&["report", "before", "--each", "bots/anna"]);
    assert!(class.path("bots/anna/anna.md").exists());
    assert_eq!(hash("after"), before);
    // What its author writes counts.
    class.write("bots/anna/notes.md", "think of the centre\n");
    assert_ne!(hash("later"), before);
}

/// Each address shows the same bot, even when another joins later with a name that is written alike.
#[test]
fn pages_keep_their_names() {
    let class = Class::of(&[
        ("one/a-b/bot.sh", RANDOM),
        ("one/ben/bot.sh", GREEDY),
        ("two/a b/bot.sh", &format!("{RANDOM}# another\n")),
    ]);
    let league = |from: &str| {
        let words = ["league", "term", "--no-check", "--from", from];
        class.run(&[&words[..], &SETTINGS[..]].concat());
        class.run(&["report", "term", "--each", "out"]);
    };
    let is_of = |page: &str, name: &str| {
        let title = format!("<title>{name}: your games</title>");
        assert!(class.read(page).contains(&title), "{page}");
    };
    league("one");
    is_of("out/a-b.html", "a-b");
    league("two");
    is_of("out/a-b.html", "a-b");
    is_of("out/a-b-2.html", "a b");
    // Of records alone: in the order of the games.
    class.run(&["report", "term/games.jsonl", "--each", "alone"]);
    is_of("alone/a-b.html", "a-b");
}

#[test]
fn who_did_not_enter_is_told_why() {
    let class = Class::of(&[
        ("bots/anna/bot.sh", RANDOM),
        ("bots/ben/bot.sh", &format!("{RANDOM}# another\n")),
        ("bots/cem/bot.sh", &ends_saying("secretofcem")),
    ]);
    class.play("term", &["bots"]);
    class.run(&["report", "term", "--each", "out"]);
    let read = |name: &str| class.read(&format!("out/{name}"));
    assert!(read("cem.md").contains("secretofcem"));
    for name in ["anna.md", "anna.html"] {
        assert!(!read(name).contains("secretofcem"), "{name}");
    }
}
