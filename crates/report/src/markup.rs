//! HTML of the Markdown that this program writes: headings, paragraphs, lists, tables and code, and one picture.

use super::escaped;

/// A line that stands for the picture.
pub const PICTURE: &str = "![]";

/// Without the first heading, which is the page's. `picture`: an SVG file.
pub fn as_html(markdown: &str, picture: Option<&str>) -> String {
    let (mut out, mut open, mut is_fenced) = (String::new(), "", false);
    for line in markdown.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        let (element, html) = match line {
            code if is_fenced => ("pre", escaped(code) + "\n"),
            "" => ("", String::new()),
            PICTURE => ("", picture.map(image).unwrap_or_default()),
            _ if level == 1 => ("", String::new()),
            _ if level > 1 => (
                "",
                format!("<h{level}>{}</h{level}>\n", inline(heading.trim())),
            ),
            row if row.starts_with("|--") => continue,
            row if row.starts_with('|') => {
                let cell = if open == "table" { "td" } else { "th" };
                let cells = row.trim_matches('|').split('|');
                let cells = cells.map(|text| format!("<{cell}>{}</{cell}>", inline(text.trim())));
                ("table", format!("<tr>{}</tr>\n", cells.collect::<String>()))
            }
            line => match (line.strip_prefix("    "), line.strip_prefix("- ")) {
                (Some(code), _) => ("pre", escaped(code) + "\n"),
                (_, Some(item)) => ("ul", format!("<li>{}</li>\n", inline(item))),
                _ => ("p", inline(line) + "\n"),
            },
        };
        if element != open {
            out += &tag("</", open);
            out += &tag("<", element);
            open = element;
        }
        out += &html;
    }
    out + &tag("</", open)
}

fn tag(begin: &str, name: &str) -> String {
    let tag = Some(format!("{begin}{name}>"));
    tag.filter(|_| !name.is_empty()).unwrap_or_default()
}

fn image(svg: &str) -> String {
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD.encode(svg);
    format!("<img class=\"board\" alt=\"The board\" src=\"data:image/svg+xml;base64,{data}\">\n")
}

/// Code in backticks, and text in which everything that Markdown could format is an entity already.
fn inline(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(place, part)| match place % 2 {
        0 => escaped(part).replace("&amp;#", "&#"),
        _ => format!("<code>{}</code>", escaped(part)),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::as_html;

    #[test]
    fn what_is_written_is_shown_as_text() {
        let markdown = "# Anna\n\n## Fix &#60;b&#62;\n\nIt `<said>`\nthis.\n\n    a <b\n\n- one\n- two\n\n\
                        | game | result |\n|---|---|\n| 1 | &#124; |\n\n```sh\nls & x\n\ny\n```\n<script>\n";
        assert_eq!(
            as_html(markdown, None),
            "<h2>Fix &#60;b&#62;</h2>\n<p>It <code>&lt;said&gt;</code>\nthis.\n</p><pre>a &lt;b\n</pre><ul><li>one</li>\n\
             <li>two</li>\n</ul><table><tr><th>game</th><th>result</th></tr>\n<tr><td>1</td><td>&#124;</td></tr>\n</table>\
             <pre>ls &amp; x\n\ny\n</pre><p>&lt;script&gt;\n</p>"
        );
    }
}
