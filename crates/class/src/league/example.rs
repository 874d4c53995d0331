//! A class to try a league with: two downloads as Moodle gives them, made of players that are shipped, and its list.

use std::fs::{self, File};
use std::io::{self, Cursor, Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

const STUDENTS: &str = "name,team,email,id
Anna Adams,,anna@example.org,
Ben Brown,,ben@example.org,
Cem Can,owls,cem@example.org,
Dana Diaz,owls,dana@example.org,
Eve Evans,,eve@example.org,
Finn Fox,,finn@example.org,
";

const RANDOM: &[u8] = include_bytes!("../../../../players/random.py");
const GREEDY: &[u8] = include_bytes!("../../../../players/greedy.py");
const SOURCE: &[u8] = include_bytes!("../../../../players/random.c");

pub const FILES: [&str; 3] = ["week1.zip", "week2.zip", "students.csv"];

/// Into a folder, which is created if needed.
pub fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let [first, second, list] = FILES.map(|name| folder.join(name));
    download(&first, RANDOM, 9)?;
    download(&second, &[GREEDY, b"# mine\n"].concat(), 16)?;
    fs::write(list, STUDENTS)
}

fn download(path: &Path, of_anna: &[u8], day: u8) -> io::Result<()> {
    let mut ben = Cursor::new(Vec::new());
    pack(&mut ben, &[("my bot/greedy.py", GREEDY, 9)])?;
    let mut eve = Cursor::new(Vec::new());
    pack(&mut eve, &[("../bot.py", RANDOM, 9)])?;
    let by = |student: &str, file: &str| format!("{student}_assignsubmission_file_/{file}");
    let files: [(_, &[u8], _); 4] = [
        (by("Anna Adams_1001", "bot.py"), of_anna, day),
        (by("Ben Brown_1002", "my bot.zip"), ben.get_ref(), 9),
        // A team hands in sources, which are built.
        (by("Cem Can_1003", "random.c"), SOURCE, 9),
        // A path that leads out: refused.
        (by("Eve Evans_1005", "bot.zip"), eve.get_ref(), 9),
    ];
    pack(&mut File::create(path)?, &files)
}

/// Files, each with its content and the day of January 2026.
fn pack(out: &mut (impl Write + Seek), files: &[(impl AsRef<str>, &[u8], u8)]) -> io::Result<()> {
    let mut zip = ZipWriter::new(out);
    for (name, content, day) in files {
        let time =
            DateTime::from_date_and_time(2026, 1, *day, 12, 0, 0).map_err(io::Error::other)?;
        zip.start_file(
            name.as_ref(),
            SimpleFileOptions::default().last_modified_time(time),
        )?;
        zip.write_all(content)?;
    }
    zip.finish()?;
    Ok(())
}
