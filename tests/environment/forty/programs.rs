//! Programs for the shell alone, which answer within a millisecond.

use std::fmt::Write as _;

const LINES: [[usize; 4]; 10] = [
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9, 10, 11],
    [12, 13, 14, 15],
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [3, 6, 9, 12],
];

/// The numbers below 16 in an order of its own.
fn order(number: usize, salt: usize) -> impl Iterator<Item = usize> {
    let (start, step) = ((number * 7 + salt * 5) % 16, 1 + 2 * ((number / salt) % 8));
    (0..16).map(move |place| (start + place * step) % 16)
}

fn letter(piece: usize) -> char {
    char::from(b'A' + u8::try_from(piece).unwrap_or_default())
}

/// What a bot does wrong before it answers, now and then: another one after the other in its pairs of games.
fn mishap(what: &str) -> String {
    if what.is_empty() {
        return String::new();
    }
    format!(
        "    case $REFEREE_SEED in *[1369]) case $board in *[DGK]?????*) {what} ;; esac ;; esac\n"
    )
}

/// The pieces in the order of gifts, and the loop that takes the first one that is left.
fn first_left(number: usize) -> String {
    let pieces: Vec<String> = order(number, 2).map(|piece| letter(piece).into()).collect();
    format!(
        "    for left in {}; do\n        case $board$piece in *$left*) ;; *) any=$left; break ;; esac\n    done\n",
        pieces.join(" ")
    )
}

/// The first free cell, and the first piece that is left, in an order of its own.
pub(super) fn simple(number: usize, remark: &str, wrong: &str) -> String {
    let mut text = format!(
        "#!/bin/sh\n# {remark}\nwhile read -r board piece; do\n{}    case $board in\n",
        mishap(wrong)
    );
    for cell in order(number, 1) {
        let _ = writeln!(text, "    {}.*) cell={} ;;", "?".repeat(cell), cell + 1);
    }
    text += "    esac\n    [ \"$piece\" != - ] || cell=-\n    any=-\n";
    text += &first_left(number);
    text + "    echo \"$cell $any\"\ndone\n"
}

/// Wins where it can, and gives no piece that wins if it can. A cell has the bits of its piece and, above, those that the
/// piece lacks; an empty one has none.
pub(super) fn steady(number: usize, remark: &str, wrong: &str) -> String {
    let mut text = format!("#!/bin/sh\n# {remark}\nvalue() {{\n    case $1 in\n");
    for piece in 0..16 {
        let bits = piece | ((15 - piece) << 4);
        let _ = writeln!(text, "    {}) v={bits} ;;", letter(piece));
    }
    text += "    *) v=0 ;;\n    esac\n}\n";
    let mask = |cell: usize| -> String {
        let lines = LINES.iter().filter(|line| line.contains(&cell));
        let lines = lines.map(|line| {
            let others = line.iter().filter(|other| **other != cell);
            let others: Vec<String> = others.map(|other| format!("b{other}")).collect();
            others.join(" & ")
        });
        lines.collect::<Vec<_>>().join(" | ")
    };
    text += "gifts() {\n    danger=0\n";
    for cell in 0..16 {
        let mask = mask(cell);
        let _ = writeln!(
            text,
            "    [ $b{cell} -ne 0 ] || danger=$((danger | {mask}))"
        );
    }
    let pieces: Vec<String> = order(number, 2).map(|piece| letter(piece).into()).collect();
    let _ = writeln!(
        text,
        "    gift=\n    for left in {}; do\n        case $board$piece in *$left*) continue ;; esac\n        value $left\n        \
         if [ $((danger & v)) -eq 0 ]; then gift=$left; break; fi\n    done\n}}",
        pieces.join(" ")
    );
    text += "while read -r board piece; do\n";
    text += &mishap(wrong);
    text += "    rest=$board\n";
    for cell in 0..16 {
        let _ = writeln!(
            text,
            "    next=${{rest#?}}; value \"${{rest%\"$next\"}}\"; b{cell}=$v; rest=$next"
        );
    }
    text += "    cell=- gift= any=- first=\n    if [ \"$piece\" = - ]; then\n        gifts\n    else\n        value \"$piece\"; p=$v cell=\n";
    for cell in order(number, 1) {
        let (mask, place) = (mask(cell), cell + 1);
        let _ = writeln!(
            text,
            "        [ -n \"$cell\" ] || [ $b{cell} -ne 0 ] || [ $((({mask}) & p)) -eq 0 ] || cell={place}"
        );
    }
    let cells: Vec<String> = order(number, 1).map(|cell| cell.to_string()).collect();
    let _ = writeln!(
        text,
        "        [ -n \"$cell\" ] || for try in {}; do\n            eval \"old=\\$b$try\"\n            [ $old -eq 0 ] || continue\n            \
         : ${{first:=$((try + 1))}}\n            eval \"b$try=$p\"\n            gifts\n            \
         if [ -n \"$gift\" ]; then cell=$((try + 1)); break; fi\n            eval \"b$try=0\"\n        done\n        \
         : ${{cell:=$first}}\n    fi",
        cells.join(" ")
    );
    text += &first_left(number);
    text + "    echo \"$cell ${gift:-$any}\"\ndone\n"
}

/// What never answers, and what fails every check at the first question.
pub(super) const SILENT: &str = "#!/bin/sh\n# unfit\nwhile read -r line; do :; done\n";
pub(super) const WRONG: &str = "#!/bin/sh\n# unfit\nwhile read -r line; do echo hello; done\n";
pub(super) const GONE: &str = "#!/bin/sh\n# unfit\nexit 0\n";

/// What is wrong now and then.
pub(super) const NAPS: &str = "sleep 9";
pub(super) const CHEATS: &str = "echo '1 A'; continue";
pub(super) const BABBLES: &str = "echo 'let me think'; continue";
pub(super) const LEAVES: &str = "exit 3";

/// The bot with this number: of each four one is simple.
pub(super) fn bot(number: usize, remark: &str) -> String {
    if number.is_multiple_of(4) {
        simple(number, remark, "")
    } else {
        steady(number, remark, "")
    }
}
