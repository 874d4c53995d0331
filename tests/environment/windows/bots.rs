//! What a BOT may be on Windows.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use super::{INTERNAL, Place, STARTS, output};

/// A path as Windows writes it.
fn windows_path(path: &Path) -> String {
    format!("Z:{}", path.to_string_lossy().replace('/', "\\"))
}

/// Plays a game against a built-in bot, with `path` in front of the search path, and gives all that was printed.
fn played(
    place: &Place,
    directory: &Path,
    path: &[PathBuf],
    arguments: &[&str],
) -> Result<String, Failed> {
    let path: Vec<String> = path.iter().map(|folder| windows_path(folder)).collect();
    let arguments = [
        &["--sandbox", "none", "--seed", "3"],
        arguments,
        &["builtin:random"],
    ]
    .concat();
    let mut last = String::new();
    for _ in 0..STARTS {
        let mut command = place.windows(directory, &arguments);
        let output = output(command.env("WINEPATH", path.join(";")))?;
        last = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if output.status.code() == Some(0) && !last.contains("forfeits") {
            return Ok(last);
        }
        if !last.contains(INTERNAL) {
            break;
        }
    }
    Err(format!("{arguments:?}: {last}").into())
}

/// A batch file that runs the bot beside it, by its path and by its name alone.
pub(super) fn batch_files(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().join("Jürgens bots");
    fs::create_dir(&folder)?;
    fs::copy(place.directory.join("bot.exe"), folder.join("bot.exe"))?;
    let text = "@echo off\r\n\"%~dp0bot.exe\" %*\r\n";
    for file in ["mein bot.bat", "starts.cmd"] {
        fs::write(folder.join(file), text)?;
    }
    let absolute = windows_path(&folder.join("mein bot.bat"));
    for bot in [
        "Jürgens bots/mein bot.bat",
        &absolute,
        &format!("\"{absolute}\" crlf"),
        "./Jürgens bots/starts.cmd",
    ] {
        played(place, scratch.path(), &[], &[bot])?;
    }
    // As a command: Windows itself would look for starts.exe only.
    played(
        place,
        scratch.path(),
        std::slice::from_ref(&folder),
        &["starts crlf"],
    )?;
    played(place, &folder, &[], &["starts.cmd"])?;
    Ok(())
}

/// The launcher is taken first, then `python`; a file that only opens the Store, never.
pub(super) fn pythons(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let bot = scratch.path().join("bot.py");
    fs::write(bot, "# The interpreters of this test play by themselves.\n")?;
    let folder = |name: &str| scratch.path().join(name);
    let interpreter = |directory: &str, name: &str| -> Result<(), Failed> {
        fs::create_dir_all(folder(directory))?;
        fs::copy(
            place.directory.join("bot.exe"),
            folder(directory).join(name),
        )?;
        Ok(())
    };
    interpreter("launcher", "py.exe")?;
    interpreter("real", "python.exe")?;
    interpreter("third", "python3.exe")?;
    fs::create_dir(folder("store"))?;
    for name in ["python.exe", "python3.exe"] {
        fs::write(folder("store").join(name), "")?;
    }
    let full = windows_path(&folder("real").join("python.exe")).replace('\\', "\\\\");
    for (path, expected) in [
        (&["store", "real", "launcher"][..], "[\"py\", "),
        (&["real", "store"], "[\"python\", "),
        (&["third"], "[\"python3\", "),
        // Its name alone would start what is there first.
        (&["store", "real"], &format!("[\"{full}\", ")),
    ] {
        let path: Vec<PathBuf> = path.iter().map(|name| folder(name)).collect();
        let log = ["--log", "referee::process=info", "bot.py"];
        let printed = played(place, scratch.path(), &path, &log)?;
        if !printed.to_lowercase().contains(&expected.to_lowercase()) {
            return Err(format!("expected {expected}: {printed}").into());
        }
    }
    let refused = output(
        place
            .windows(scratch.path(), ["bot.py", "builtin:random"])
            .env("WINEPATH", windows_path(&folder("store"))),
    )?;
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    if refused.status.code() != Some(2)
        || !words.contains("it needs python3, which is not installed")
    {
        return Err(words.into());
    }
    Ok(())
}
