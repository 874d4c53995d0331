//! Grades: the same for the same bot, whoever else is graded and however often it was interrupted; and the files that come of it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::classroom::{Class, GREEDY, RANDOM, WRONG};
use crate::common::files::executable;
use crate::common::{Referee, Run};

const SCALE: &str = r#"
seed = 7
budget = 20
[[rung]]
name = "beats random play"
bot = "builtin:random"
elo0 = 0
elo1 = 200
points = 60
[[rung]]
name = "beats greedy play"
bot = "builtin:greedy"
elo0 = 100
elo1 = 400
points = 40
"#;

/// A class with a scale.
struct Graded(Class);

impl Graded {
    fn of(students: &[(&str, &str)]) -> Self {
        let class = Class::of(&[("scale.toml", SCALE)]);
        for (name, text) in students {
            class.write(&format!("bots/{name}/bot.sh"), text);
        }
        Self(class)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn read(&self, name: &str) -> String {
        self.0.read(name)
    }

    fn grade(&self, words: &[&str]) -> Referee {
        let options = ["--scale", "scale.toml", "--sandbox", "none"];
        self.0.referee(&[&["grade"], words, &options].concat())
    }

    fn graded(&self, words: &[&str]) -> Run {
        let run = self.grade(words).run();
        assert_eq!(run.code, Some(0), "{run}");
        run
    }

    /// The grade of a bot, without its name and folder.
    fn grade_of(&self, out: &str, name: &str) -> Value {
        let all = self.0.json(&format!("{out}/grades.json"));
        let grades = all["grades"].as_array().expect("a list");
        let own = grades.iter().find(|grade| grade["name"] == name);
        own.expect("a grade").clone()
    }
}

#[test]
fn a_grade_depends_on_the_bot_and_the_scale_alone() {
    let class = Graded::of(&[("anna", GREEDY), ("ben", RANDOM), ("cem", WRONG)]);
    let run = class.graded(&["bots", "--jobs", "2"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        lines[0].starts_with("anna  60 of 100  beats random play: passed, "),
        "{run}"
    );
    assert!(
        lines[1].starts_with("ben   0 of 100  beats random play: "),
        "{run}"
    );
    assert!(
        lines[2].starts_with("cem   0 of 100  cannot play: "),
        "{run}"
    );
    let anna = class.grade_of("grades", "anna");
    // Ben did not pass the first rung; the second was not played.
    assert_eq!(
        class.grade_of("grades", "ben")["rungs"][1]["verdict"],
        "not-played"
    );
    // Alone, one game after the other, in another folder.
    class.graded(&["bots", "--only", "anna", "--jobs", "1", "--out", "alone"]);
    assert_eq!(class.grade_of("alone", "anna"), anna);
    // Named by their files, a page names nobody else's.
    let files = ["bots/anna/bot.sh", "bots/ben"];
    class.graded(&[&files[..], &["--out", "named"]].concat());
    let pages = fs::read_dir(class.path("named")).expect("pages");
    for page in pages.map(|entry| entry.expect("an entry").path().join("grade.md")) {
        let text = fs::read_to_string(page).unwrap_or_default();
        assert!(
            !(text.contains("anna/bot.sh") && text.contains("bots/ben")),
            "{text}"
        );
    }
    // Again: nothing is played.
    let place = anna["rungs"][0]["folder"].as_str().expect("a folder");
    let games = class.read(&format!("grades/{place}/games.jsonl"));
    class.graded(&["bots", "--jobs", "2"]);
    assert_eq!(class.read(&format!("grades/{place}/games.jsonl")), games);
    assert_eq!(class.grade_of("grades", "anna"), anna);
    // Other settings are not mixed with them.
    let run = class.grade(&["bots", "--move-time", "3s"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("choose another folder with --out"),
        "{run}"
    );
}

#[test]
fn an_interrupted_climb_goes_on_to_the_same_grade() {
    let class = Graded::of(&[("anna", GREEDY)]);
    for round in 0..4 {
        let started = class.grade(&["bots"]).start();
        thread::sleep(Duration::from_millis(200 * round));
        // As by `kill -9`.
        drop(started);
    }
    class.graded(&["bots"]);
    class.graded(&["bots", "--out", "fresh"]);
    assert_eq!(
        class.grade_of("grades", "anna"),
        class.grade_of("fresh", "anna")
    );
}

#[test]
fn files_have_the_form_that_their_readers_expect() {
    let class = Graded::of(&[("anna", GREEDY), ("ben", RANDOM)]);
    let students = "Email address,bot,ID number\na@example.org,anna,1\nb@example.org,anna,2\n-c,ben,3\nd@example.org,dora,4\n";
    fs::write(class.path("students.csv"), students).expect("a file");
    let run = class
        .grade(&["bots", "--students", "students.csv"])
        .env("CLASSROOM", "cs")
        .env("ASSIGNMENT", "quarto")
        .env("USERNAME", "anna")
        .env("SUBMISSION_TAG", "submit/1")
        .env("COMMIT_URL", "https://example.org/c")
        .env("RELEASE_URL", "https://example.org/r")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("there is no bot of dora"), "{run}");
    let table = class.read("grades/grades.csv");
    let mut table = csv::Reader::from_reader(table.as_bytes());
    assert_eq!(
        table.headers().expect("headings"),
        vec!["Email address", "ID number", "Grade", "Feedback"]
    );
    let rows: Vec<csv::StringRecord> = table.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1].get(2), Some("60"));
    // No spreadsheet takes a value for a formula.
    assert_eq!(rows[2].get(0), Some("'-c"));
    let gradescope: Value =
        serde_json::from_str(&class.read("grades/anna/results.json")).expect("JSON");
    assert_eq!(gradescope["score"], 60);
    assert_eq!(gradescope["tests"][0]["status"], "passed");
    assert_eq!(gradescope["tests"][0]["max_score"], 60);
    assert_eq!(
        gradescope["leaderboard"][0],
        json!({"name": "Points", "value": 60})
    );
    let result: Value = serde_json::from_str(&class.read("grades/anna/result.json")).expect("JSON");
    assert_eq!(result["schema"], "classroom50/result/v1");
    assert_eq!(result["owner"], "anna");
    // Where no comparison is given.
    assert_eq!(result["review"], result["commit"]);
    assert_eq!(
        (&result["score"], &result["max-score"]),
        (&60.into(), &100.into())
    );
    assert_eq!(result["tests"][0]["test-name"], "beats random play");
    let page = class.read("grades/anna/grade.md");
    for part in [
        "# anna: 60 of 100 points",
        "To pass: be stronger than builtin:random",
        "with 90 % certainty",
        "referee replay grades/anna/",
        "referee grade bots --scale scale.toml --only anna",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn the_bots_of_a_tournament_are_graded() {
    let class = Graded::of(&[("anna", GREEDY), ("ben", RANDOM), ("cem", WRONG)]);
    class.0.play("term", &["bots"]);
    let run = class.graded(&["term"]);
    assert!(run.stdout.contains("anna  60 of 100"), "{run}");
    assert!(
        run.stdout.contains("cem   0 of 100  cannot play: "),
        "{run}"
    );
    // What the student gets names the program as the student does.
    let page = class.read("term/grades/cem/grade.md");
    for part in [
        "\n\nFix: write the answer in that form",
        "\n\nSee it again:\n\n    printf ",
        " ./bot.sh\n",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for text in [&page, &class.read("term/grades/grades.csv")] {
        assert!(!text.contains("bots/cem"), "{text}");
    }
    assert!(class.path("term/grades/grades.csv").is_file());
}

#[test]
fn one_list_of_students_serves_leagues_and_grades() {
    let class = Graded::of(&[("anna lee", GREEDY), ("17", RANDOM)]);
    let list = "\u{feff}First name\tLast name\tID number\tEmail address\nAnna\tLee\t16\ta@x.org\nBen\tFox\t17\tb@x.org\nCem\tCan\t18\tc@x.org\n";
    fs::write(class.path("students.csv"), list).expect("a file");
    // What Moodle has exported, with folders that are called by names and numbers.
    let run = class.graded(&["bots", "--students", "students.csv"]);
    assert!(run.stderr.contains("there is no bot of Cem Can"), "{run}");
    let table = class.read("grades/grades.csv");
    assert!(
        table.starts_with(
            "First name,Last name,ID number,Email address,Grade,Feedback\nAnna,Lee,16,a@x.org,60,"
        ),
        "{table}"
    );
    assert!(table.contains("\nBen,Fox,17,b@x.org,0,"), "{table}");
    // A league keeps its list, and its newest versions are graded.
    let league = [
        "league",
        "term",
        "--from",
        "bots",
        "--pairs",
        "1",
        "--sandbox",
        "none",
    ];
    let run = class
        .0
        .referee(&[&league[..], &["--students", "students.csv"]].concat())
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    class.0.write("bots/17/bot.sh", GREEDY);
    let run = class.0.referee(&league).run();
    assert_eq!(run.code, Some(0), "{run}");
    class.graded(&["term"]);
    let table = class.read("term/grades/grades.csv");
    assert!(
        table.starts_with(
            "Full name,Email address,ID number,Grade,Feedback\nAnna Lee,a@x.org,16,60,"
        ),
        "{table}"
    );
    assert!(table.contains("\nBen Fox,b@x.org,17,60,"), "{table}");
    // The same student and program under another name: what was played counts.
    fs::write(
        class.path("students.csv"),
        list.replace("Anna\tLee", "Anna\tLee-Fox"),
    )
    .expect("a file");
    let run = class
        .0
        .referee(&[&league[..], &["--students", "students.csv"]].concat())
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    class.graded(&["term"]);
    let table = class.read("term/grades/grades.csv");
    assert!(table.contains("\nAnna Lee-Fox,a@x.org,16,60,"), "{table}");
}

#[test]
fn what_was_late_loses_points() {
    let class = Graded::of(&[
        ("anna_20260131_1200", GREEDY),
        ("ben_20260131_1230", GREEDY),
        ("cem_20260201_1201", GREEDY),
    ]);
    let late = "[[late]]\nafter = 0\nloses = 10\n[[late]]\nafter = 24\nloses = 100\n";
    fs::write(class.path("scale.toml"), format!("{SCALE}{late}")).expect("a file");
    let league = [
        "league",
        "term",
        "--from",
        "bots",
        "--pairs",
        "1",
        "--sandbox",
        "none",
    ];
    let late = ["--deadline", "2026-01-31T12:00Z", "--accept-late", "48h"];
    let run = class.0.referee(&[&league[..], &late].concat()).run();
    assert_eq!(run.code, Some(0), "{run}");
    class.graded(&["term"]);
    let all = class.0.json("term/grades/grades.json");
    let grades = all["grades"].as_array().expect("a list").iter();
    let found: Vec<_> = grades
        .map(|grade| (grade["points"].clone(), grade["late"].clone()))
        .collect();
    let deadline = "2026-01-31T12:00:00+00:00";
    let late =
        |hours: u64, lost: u64| json!({"hours": hours, "deadline": deadline, "points_lost": lost});
    assert_eq!(
        found,
        [
            (json!(60), Value::Null),
            (json!(50), late(1, 10)),
            (json!(0), late(25, 100))
        ]
    );
    let table = class.read("term/grades/grades.csv");
    assert!(
        table.contains("Handed in 1 hour late, after 2026-01-31T12:00:00+00:00: 10 points lost."),
        "{table}"
    );
}

/// It passes its check, and crashes in games: what a bot makes against it says nothing.
#[test]
fn a_reference_that_fails_gives_no_verdict() {
    let class = Graded::of(&[]);
    let marker = class.path("marker");
    let first = |line: String| RANDOM.replacen('\n', &format!("\n{line}\n"), 1);
    let marks = first(format!(": >'{}'", marker.display()));
    let fails = first(format!("[ ! -e '{}' ] || exit 1", marker.display()));
    class.0.write("bots/anna/bot.sh", &marks);
    class.0.write("reference.sh", &fails);
    let rung = "[[rung]]\nname = \"a measure\"\nbot = \"./reference.sh\"\nelo0 = 0\nelo1 = 200\npoints = 50\n";
    class
        .0
        .write("scale.toml", &format!("seed = 7\nbudget = 4\n{rung}"));
    let run = class.grade(&["bots"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    let words = "the reference bot of a measure forfeited games, so there is no verdict";
    assert!(run.stderr.contains(words), "{run}");
    let grade = class.grade_of("grades", "anna");
    let rung = &grade["rungs"][0];
    assert_eq!(
        (&grade["points"], &rung["verdict"]),
        (&json!(0), &json!("unmeasured")),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("a measure: no verdict, as its reference bot failed"),
        "{run}"
    );
}

#[test]
fn mistakes_are_named() {
    let class = Graded::of(&[("anna", GREEDY)]);
    let refused = |words: &[&str], text: &str| {
        let run = class.grade(words).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(text), "{run}");
    };
    refused(&["bots", "--only", "ben"], "there is no such bot");
    refused(&["nobody"], "nobody");
    fs::write(
        class.path("scale.toml"),
        SCALE.replace("builtin:greedy", "gone.py"),
    )
    .expect("a file");
    refused(&["bots"], "rung beats greedy play: ");
    fs::write(class.path("scale.toml"), SCALE.replace("elo1 = 200", "")).expect("a file");
    refused(&["bots"], "expected elo0 and elo1, or score alone");
    let run = Referee::new(["print", "scale"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("[[rung]]"), "{run}");
}

/// Under another name, and beside others.
#[test]
fn equal_programs_of_two_students_get_equal_grades() {
    let class = Graded::of(&[("anna", RANDOM), ("zoë", RANDOM)]);
    class.0.write("bots/cem/bot.sh", GREEDY);
    let rung =
        "[[rung]]\nname = \"a measure\"\nbot = \"builtin:random\"\nscore = 0.5\npoints = 50\n";
    class
        .0
        .write("scale.toml", &format!("seed = 7\nbudget = 8\n{rung}"));
    class.graded(&["bots"]);
    let of = |name: &str| {
        let mut grade = class.grade_of("grades", name);
        let fields = grade.as_object_mut().expect("an object");
        fields.remove("name");
        fields.remove("folder");
        for rung in grade["rungs"].as_array_mut().expect("a list") {
            rung.as_object_mut().expect("an object").remove("folder");
        }
        grade
    };
    assert_eq!(of("anna"), of("zoë"));
    assert_ne!(of("anna"), of("cem"));
}

/// Also where the measure, the scale and the grades are in its folder.
#[test]
fn the_same_files_get_the_same_grade() {
    let class = Graded::of(&[]);
    let folder = class.0.path("own");
    fs::create_dir(&folder).expect("a folder");
    for name in ["bot.sh", "reference.sh"] {
        executable(&folder.join(name), RANDOM, 0o755);
    }
    let rung = "[[rung]]\nname = \"a measure\"\nbot = \"./reference.sh\"\nelo0 = 0\nelo1 = 200\npoints = 50\n";
    class
        .0
        .write("own/scale.toml", &format!("seed = 7\nbudget = 2\n{rung}"));
    let grade = |more: &[&str]| {
        let words = [
            "grade",
            "bot.sh",
            "--scale",
            "scale.toml",
            "--sandbox",
            "none",
        ];
        let run = Referee::new(words).args(more).directory(&folder).run();
        assert_eq!(run.code, Some(0), "{run}");
        let grades = more.last().copied().unwrap_or("grades");
        let results = fs::read_to_string(folder.join(grades).join("grades.json"));
        results.expect("grades")
    };
    let first = grade(&[]);
    assert_eq!(grade(&[]), first);
    let other = grade(&["--out", "here"]);
    assert_eq!(grade(&["--out", "here"]), other);
    assert_eq!(other, first);
}
