//! Languages that must be compiled, and the commands that do it.

use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiler {
    pub language: &'static str,
    /// File extensions, without the dot.
    pub endings: &'static [&'static str],
    /// The command; `{in}` is the source, `{out}` the source without its extension.
    template: &'static str,
}

impl Compiler {
    /// The shell command that compiles a source.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use referee_sandbox::executable::compiler;
    ///
    /// let compiler = compiler::of_file(Path::new("my bot.pas")).ok_or("unknown")?;
    /// assert_eq!(compiler.command("my bot.pas"), "fpc 'my bot.pas'");
    /// # Ok::<(), &str>(())
    /// ```
    pub fn command(&self, source: &str) -> String {
        let out = Path::new(source).with_extension("");
        let out = out.to_string_lossy();
        self.template
            .replace("{in}", &shell_words::quote(source))
            .replace("{out}", &shell_words::quote(&out))
    }
}

const fn compiler(
    language: &'static str,
    endings: &'static [&'static str],
    template: &'static str,
) -> Compiler {
    Compiler {
        language,
        endings,
        template,
    }
}

#[rustfmt::skip]
pub const COMPILERS: &[Compiler] = &[
    compiler("Ada", &["adb"], "gnatmake -o {out} {in}"),
    compiler("C", &["c"], "gcc -O2 -o {out} {in}"),
    compiler("C#", &["cs"], "mcs -out:{out}.exe {in}"),
    compiler("C++", &["cpp", "cc", "cxx"], "g++ -O2 -o {out} {in}"),
    compiler("Crystal", &["cr"], "crystal build --release -o {out} {in}"),
    compiler("D", &["d"], "gdc -O2 -o {out} {in}"),
    compiler("Fortran", &["f90", "f95"], "gfortran -O2 -o {out} {in}"),
    compiler("Kotlin", &["kt"], "kotlinc {in} -include-runtime -d {out}.jar"),
    compiler("Nim", &["nim"], "nim compile -d:release -o:{out} {in}"),
    compiler("Pascal", &["pas", "pp"], "fpc {in}"),
    compiler("Rust", &["rs"], "rustc -O -o {out} {in}"),
    compiler("Swift", &["swift"], "swiftc -O -o {out} {in}"),
    compiler("Zig", &["zig"], "zig build-exe -O ReleaseFast -femit-bin={out} {in}"),
];

pub fn of_ending(ending: &str) -> Option<Compiler> {
    COMPILERS
        .iter()
        .find(|compiler| compiler.endings.contains(&ending))
        .copied()
}

pub fn of_file(path: &Path) -> Option<Compiler> {
    of_ending(path.extension()?.to_str()?)
}
