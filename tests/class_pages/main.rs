//! The pages of a class in Chromium, against the built program: a student hands in and sees what becomes of it, a teacher
//! decides; on a desktop and on a phone, in both themes, and without JavaScript.

#[path = "../environment/browser/driver.rs"]
#[expect(dead_code, reason = "tests/environment uses the rest of it")]
mod driver;
#[path = "../common/hangs.rs"]
mod hangs;
#[path = "../class_server/http.rs"]
#[allow(dead_code, reason = "tests/class_server uses the rest of it")]
mod http;
#[path = "../environment/requirements.rs"]
mod requirements;
#[path = "../class_server/served.rs"]
#[expect(dead_code, reason = "tests/class_server uses the rest of it")]
mod served;

use std::env;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::json;
use tempfile::TempDir;

use self::driver::Browser;
use self::served::{GREEDY, RANDOM, Served, WRONG};

const STUDENTS: &str = "name,id\nAnna Adams,s1\nBen Bell,s2\n";

/// A window, and what it prefers.
#[derive(Clone, Copy)]
struct Screen {
    width: u32,
    theme: &'static str,
}

const SCREENS: [Screen; 4] = [
    Screen {
        width: 1280,
        theme: "light",
    },
    Screen {
        width: 1280,
        theme: "dark",
    },
    Screen {
        width: 390,
        theme: "light",
    },
    Screen {
        width: 390,
        theme: "dark",
    },
];

/// A browser that has opened a person's link.
struct Person<'a> {
    class: &'a Served,
    browser: Browser,
    files: TempDir,
}

impl<'a> Person<'a> {
    fn open(class: &'a Served, name: &str, screen: Screen) -> Result<Self, Failed> {
        let browser = Browser::start()?;
        browser.size(screen.width, 800, screen.width < 500)?;
        browser.prefers("prefers-color-scheme", screen.theme)?;
        let person = Self {
            class,
            browser,
            files: tempfile::tempdir()?,
        };
        person.go(&format!("/in/{}", class.link(name)))?;
        Ok(person)
    }

    fn go(&self, path: &str) -> Result<(), Failed> {
        Ok(self
            .browser
            .go(&format!("http://{}{path}", self.class.address))?)
    }

    /// Chooses a file of this text, and presses the button.
    fn hand_in(&self, text: &str) -> Result<(), Failed> {
        let file = self.files.path().join("bot.sh");
        fs::write(&file, text)?;
        self.browser.choose("#files", &file.to_string_lossy())?;
        Ok(self.browser.click("#hand-in .primary")?)
    }

    /// Waits until a section has these words, without a reload.
    fn sees(&self, section: &str, words: &str) -> Result<(), Failed> {
        let words = json!(words);
        let script = format!(
            "return document.getElementById('{section}')?.innerText.includes({words}) === true"
        );
        Ok(self.browser.wait(&script)?)
    }

    /// Nothing is cut off at the right, and no script has complained.
    fn is_tidy(&self, what: &str) -> Result<(), Failed> {
        let page =
            "const root = document.documentElement; return root.scrollWidth - root.clientWidth";
        let beyond = self.browser.number(page)?;
        if beyond > 0.0 {
            return Err(format!("{what}: {beyond} pixels beyond the window").into());
        }
        self.keep_picture(what)?;
        Ok(self.browser.is_quiet()?)
    }

    /// To be looked at: in the folder that `REFEREE_PICTURES` names.
    fn keep_picture(&self, what: &str) -> Result<(), Failed> {
        if let Some(folder) = env::var_os("REFEREE_PICTURES") {
            let file = std::path::Path::new(&folder).join(format!("{what}.png.base64"));
            fs::write(file, self.browser.picture()?)?;
        }
        Ok(())
    }
}

fn a_student_sees_each_outcome(screen: Screen) -> Result<(), Failed> {
    let class = Served::start(STUDENTS);
    let Screen { width, theme } = screen;
    let anna = Person::open(&class, "Anna Adams", screen)?;
    let address = anna.browser.text("return location.pathname")?;
    if address != "/me" {
        return Err(format!("the link leads to {address}").into());
    }
    anna.is_tidy(&format!("{width}-{theme}-empty"))?;
    anna.hand_in(RANDOM)?;
    anna.sees("form", "Accepted as version 1.")?;
    anna.sees("versions", "accepted, plays next")?;
    anna.hand_in(WRONG)?;
    anna.sees("versions", "refused")?;
    anna.sees("versions", "Fix first")?;
    anna.sees("versions", "printf ")?;
    anna.is_tidy(&format!("{width}-{theme}-refused"))?;
    // The version before plays on; another bot comes to play against.
    class.hand_in(&class.link("Ben Bell"), "bot.sh", RANDOM);
    anna.sees("now", "Place ")?;
    anna.hand_in(GREEDY)?;
    anna.sees("versions", "Version 3")?;
    anna.sees("versions", "plays: 2 games")?;
    anna.sees("now", "2 of 2 games")?;
    anna.sees("standings", "Anna Adams")?;
    anna.is_tidy(&format!("{width}-{theme}-playing"))?;
    // An earlier one is made current again.
    anna.browser.click("#again-1")?;
    anna.sees("versions", "version 1 again")?;
    anna.go("/me/games")?;
    anna.is_tidy(&format!("{width}-{theme}-games"))
}

fn a_program_is_pasted(screen: Screen) -> Result<(), Failed> {
    let class = Served::start(STUDENTS);
    let anna = Person::open(&class, "Anna Adams", screen)?;
    let (name, text) = (json!("bot.sh"), json!(RANDOM));
    anna.browser.run(&format!(
        "document.getElementById('paste').open = true;
         document.querySelector('[name=name]').value = {name};
         document.querySelector('[name=text]').value = {text};"
    ))?;
    anna.browser.click("#hand-in .primary")?;
    anna.sees("form", "Accepted as version 1.")?;
    anna.sees("versions", "accepted, plays next")?;
    // Nothing was chosen this time.
    anna.browser.click("#hand-in .primary")?;
    anna.sees("form", "Not accepted: ")
}

/// With what is in it, as a person drags it from the desktop.
fn a_folder_is_dropped(screen: Screen) -> Result<(), Failed> {
    let class = Served::start(STUDENTS);
    let anna = Person::open(&class, "Anna Adams", screen)?;
    let folder = anna.files.path().join("mybot");
    fs::create_dir_all(folder.join("data"))?;
    let reads = "#!/bin/sh\n[ -e \"${0%/*}/data/weights.txt\" ] || exit 1\nexec \"$REFEREE_BIN\" bot random\n";
    fs::write(folder.join("bot.sh"), reads)?;
    fs::write(folder.join("data/weights.txt"), "1 2 3\n")?;
    let middle = |edge: &str, size: &str| {
        let script = format!(
            "const box = document.querySelector('.drop').getBoundingClientRect(); return box.{edge} + box.{size} / 2"
        );
        anna.browser.number(&script)
    };
    let (x, y) = (middle("left", "width")?, middle("top", "height")?);
    for kind in ["dragEnter", "dragOver", "drop"] {
        let data = json!({"items": [], "files": [folder], "dragOperationsMask": 1});
        let event = json!({"type": kind, "x": x, "y": y, "data": data});
        anna.browser.devtools("Input.dispatchDragEvent", &event)?;
    }
    anna.sees("form", "Accepted as version 1.")?;
    anna.sees("versions", "accepted, plays next")
}

/// As the driver of the browser knows them.
const TAB: char = '\u{E004}';
const ENTER: char = '\u{E007}';

/// Without a mouse, and the ring always shows where one is.
fn a_student_works_by_keyboard(screen: Screen) -> Result<(), Failed> {
    let class = Served::start(STUDENTS);
    class.hand_in(&class.link("Ben Bell"), "bot.sh", GREEDY);
    let anna = Person::open(&class, "Anna Adams", screen)?;
    let tab_to = |selector: &str| -> Result<(), Failed> {
        let (selector, mut ring) = (json!(selector), String::new());
        for _ in 0..60 {
            anna.browser.keys(&[TAB])?;
            ring = anna
                .browser
                .text("return getComputedStyle(document.activeElement).outlineStyle")?;
            let is_there = format!("return document.activeElement.matches({selector})");
            if anna.browser.run(&is_there)? == json!(true) && ring != "none" {
                return Ok(());
            }
        }
        Err(format!("no way to {selector}; the last outline is {ring}").into())
    };
    let types = |text: &str| {
        let keys: Vec<char> = text
            .chars()
            .map(|c| if c == '\n' { ENTER } else { c })
            .collect();
        anna.browser.keys(&keys)
    };
    tab_to("#paste summary")?;
    anna.browser.keys(&[ENTER])?;
    tab_to("[name=name]")?;
    types("bot.sh")?;
    tab_to("[name=text]")?;
    types(RANDOM)?;
    tab_to("#hand-in .primary")?;
    anna.browser.keys(&[ENTER])?;
    anna.sees("form", "Accepted as version 1.")?;
    anna.sees("standings", "Friendly")?;
    tab_to("[aria-label='See your bot play against Ben Bell']")?;
    anna.browser.keys(&[ENTER])?;
    let is_shown =
        "return document.getElementById('live')?.textContent.startsWith('Finished') === true";
    Ok(anna.browser.wait(is_shown)?)
}

fn a_teacher_decides(screen: Screen) -> Result<(), Failed> {
    let class = Served::start(STUDENTS);
    let Screen { width, theme } = screen;
    let teacher = Person::open(&class, "(teacher)", screen)?;
    teacher.sees("students", "nothing yet")?;
    class.hand_in(&class.link("Anna Adams"), "bot.sh", GREEDY);
    class.hand_in(&class.link("Ben Bell"), "bot.sh", WRONG);
    teacher.sees("students", "version 1: refused")?;
    teacher.sees("students", "version of ")?;
    teacher.is_tidy(&format!("{width}-{theme}-class"))?;
    let decide = |bot: &str, action: &str| -> Result<(), Failed> {
        let bot = json!(bot);
        teacher.browser.run(&format!(
            "document.getElementById('decide-of').value = {bot}"
        ))?;
        Ok(teacher
            .browser
            .click(&format!("[name=action][value={action}]"))?)
    };
    decide("Anna Adams", "withdraw")?;
    teacher.sees("students", "withdrawn: by the teacher")?;
    teacher.sees("log", "withdrawn")?;
    decide("Anna Adams", "restore")?;
    teacher.sees("log", "restored")?;
    decide("", "freeze")?;
    teacher.sees("state", "Frozen")?;
    let ben = Person::open(&class, "Ben Bell", screen)?;
    ben.sees("form", "The class is frozen")?;
    ben.is_tidy(&format!("{width}-{theme}-frozen"))?;
    decide("", "thaw")?;
    teacher.sees("log", "open again")?;
    class.hand_in(&class.link("Ben Bell"), "bot.sh", RANDOM);
    class.until(&class.link("Ben Bell"), 2, &["done"]);
    decide("", "announce")?;
    teacher.sees("final", "final of 2 bots")?;
    teacher.is_tidy(&format!("{width}-{theme}-announced"))?;
    decide("", "play")?;
    teacher.sees("final", "It has been played.")?;
    teacher.go("/final/#stage")?;
    teacher
        .browser
        .wait("return document.querySelector('main.view-stage') !== null")?;
    teacher.is_tidy(&format!("{width}-{theme}-final"))?;
    teacher.go("/class")?;
    teacher.browser.click("#students a")?;
    teacher.sees("versions", "Version 1")?;
    teacher.is_tidy(&format!("{width}-{theme}-student"))
}

/// From the page of a bot: a game in person, to its end. By the buttons of the standings: a friendly one.
fn a_student_plays_a_bot(screen: Screen) -> Result<(), Failed> {
    let class = Served::start(STUDENTS);
    let Screen { width, theme } = screen;
    let [anna, ben] = ["Anna Adams", "Ben Bell"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.hand_in(&ben, "bot.sh", GREEDY);
    class.until(&ben, 1, &["done"]);
    let person = Person::open(&class, "Anna Adams", screen)?;
    person.sees("standings", "Friendly")?;
    let look = "document.getElementById('standings').scrollIntoView()";
    person.browser.run(look)?;
    person.is_tidy(&format!("{width}-{theme}-offers"))?;
    person.go("/games")?;
    let of_ben = "[...document.querySelectorAll('a[href^=\"#bot=\"]')].find((link) => link.textContent.includes('Ben Bell'))";
    person
        .browser
        .wait(&format!("return {of_ben} !== undefined"))?;
    person.browser.run(&format!("{of_ben}.click()"))?;
    let ask = "a[href^='/tables/new?bot=']";
    person.browser.wait(&format!(
        "return document.querySelector(\"{ask}\") !== null"
    ))?;
    person.is_tidy(&format!("{width}-{theme}-bot"))?;
    person.browser.click(ask)?;
    person.sees("table", "Play against Ben Bell")?;
    person.is_tidy(&format!("{width}-{theme}-asking"))?;
    person
        .browser
        .click("[aria-label='Play against Ben Bell']")?;
    let whose = "if (document.querySelector('.final:not(.blame)')) return 'over';
        const panel = document.querySelector('.worth');
        const isMine = panel && !panel.hidden && (document.querySelector('.worth-cell') || panel.querySelector('.worth-gift'));
        return isMine ? 'mine' : 'wait';";
    // An answer may be refused, when it comes before the question waits for it: the page says so, and asks again.
    let mut answers = 0;
    loop {
        let is_known = format!("return (() => {{ {whose} }})() !== 'wait'");
        person.browser.wait(&is_known)?;
        if person.browser.text(whose)? == "over" {
            break;
        }
        let has_cells = "return document.querySelector('.worth-cell') !== null";
        if person.browser.run(has_cells)? == json!(true) {
            person.is_tidy(&format!("{width}-{theme}-at-the-table"))?;
            person.browser.click(".worth-cell[data-cell]")?;
        }
        person.browser.click(".worth-gift")?;
        answers += 1;
        if answers > 200 {
            let said = "return document.querySelector('.final')?.textContent ?? 'nothing'";
            return Err(person.browser.text(said)?.into());
        }
    }
    let is_over = "document.getElementById('live')?.textContent.startsWith('Finished') === true";
    let is_too_soon = "document.body.textContent.includes('opened a moment ago')";
    loop {
        person.go("/me")?;
        person.sees("tables", "Anna Adams vs Ben Bell")?;
        person
            .browser
            .click("[aria-label='See your bot play against Ben Bell']")?;
        person
            .browser
            .wait(&format!("return {is_over} || {is_too_soon}"))?;
        // On a quick machine the first game was over within the time that has to pass between two tables.
        if person.browser.run(&format!("return {is_over}"))? == json!(true) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(500));
    }
}

/// The form is sent and the page is read anew by the browser alone.
fn all_works_without_javascript(screen: Screen) -> Result<(), Failed> {
    let class = Served::start(STUDENTS);
    let anna = Person::open(&class, "Anna Adams", screen)?;
    anna.browser.devtools(
        "Emulation.setScriptExecutionDisabled",
        &json!({"value": true}),
    )?;
    anna.go("/me")?;
    anna.hand_in(WRONG)?;
    class.until(&class.link("Anna Adams"), 1, &["refused"]);
    anna.go("/me")?;
    let page = anna.browser.source()?;
    for words in ["Version 1", "refused", "Fix first"] {
        if !page.contains(words) {
            return Err(format!("no {words} in {page}").into());
        }
    }
    Ok(())
}

fn main() {
    let mut trials = Vec::new();
    let mut add = |name: String, screen: Screen, test: fn(Screen) -> Result<(), Failed>| {
        trials.push(match driver::missing() {
            None => Trial::test(name, move || {
                let _permit = requirements::LargePermit::wait();
                test(screen)
            }),
            Some((command, package)) => requirements::unavailable(name, command, package),
        });
    };
    for screen in SCREENS {
        let Screen { width, theme } = screen;
        add(
            format!("a student sees each outcome at {width} pixels, {theme}"),
            screen,
            a_student_sees_each_outcome,
        );
        add(
            format!("a teacher decides at {width} pixels, {theme}"),
            screen,
            a_teacher_decides,
        );
        add(
            format!("a student plays a bot at {width} pixels, {theme}"),
            screen,
            a_student_plays_a_bot,
        );
    }
    add(
        "a program is pasted".to_owned(),
        SCREENS[2],
        a_program_is_pasted,
    );
    add(
        "a folder is dropped".to_owned(),
        SCREENS[0],
        a_folder_is_dropped,
    );
    for screen in [SCREENS[0], SCREENS[2]] {
        add(
            format!("a student works by keyboard at {} pixels", screen.width),
            screen,
            a_student_works_by_keyboard,
        );
    }
    add(
        "all works without JavaScript".to_owned(),
        SCREENS[2],
        all_works_without_javascript,
    );
    trials.push(match unshare() {
        Some(unshare) => Trial::test("a full disk is told", move || a_full_disk_is_told(unshare)),
        None => requirements::unavailable("a full disk is told", "unshare", "util-linux"),
    });
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The command that lets a program mount a disk of its own, if one does here: root may, others in a name space of users.
fn unshare() -> Option<&'static [&'static str]> {
    const COMMANDS: &[&[&str]] = &[&["unshare", "-m"], &["unshare", "-rm"]];
    let works = |command: &&&[&str]| {
        let tried = Command::new(command[0])
            .args(&command[1..])
            .args(["mount", "-t", "tmpfs", "none", "/mnt"])
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|status| status.success())
    };
    COMMANDS.iter().find(works).copied()
}

/// What was acknowledged stays, what is not is told, and the server goes on.
fn a_full_disk_is_told(unshare: &[&str]) -> Result<(), Failed> {
    let class = Served::on_disk(unshare, 8, STUDENTS);
    let [anna, ben] = ["Anna Adams", "Ben Bell"].map(|name| class.link(name));
    let sent = class.hand_in(&anna, "bot.sh", RANDOM);
    if sent.status != 202 {
        return Err(format!("{sent:?}").into());
    }
    let large = "x".repeat(12 << 20);
    let body = http::upload(&[("bot.sh", GREEDY), ("book.txt", &large)]);
    let full = class.send("/submissions", &ben, &http::boundary(), &body);
    if full.status != 507 || !full.text().contains("no space left") {
        return Err(format!("{full:?}").into());
    }
    if class.get("/submissions/1/files", &anna).text() != RANDOM {
        return Err("what was acknowledged is lost".into());
    }
    // What was received of it has gone.
    let sent = class.hand_in(&ben, "bot.sh", GREEDY);
    if sent.status != 202 {
        return Err(format!("{sent:?}").into());
    }
    Ok(())
}
