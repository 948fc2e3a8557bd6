//! Shells and the quoting of arguments for them (`@npmcli/promise-spawn`).

use tokio::process::Command;

/// The shell of this platform if `script-shell` isn't set.
pub fn default_shell() -> String {
    if cfg!(windows) { std::env::var("ComSpec").unwrap_or_else(|_| "cmd.exe".to_owned()) } else { "sh".to_owned() }
}

/// The process that runs a script with arguments.
pub fn command(shell: &str, script: &str, arguments: &[String]) -> Command {
    let is_cmd = is_cmd(shell);
    let mut line = script.to_owned();
    for argument in arguments {
        line.push(' ');
        line.push_str(&if is_cmd { for_cmd(argument, runs_batch_file(script)) } else { for_sh(argument) });
    }
    let mut command = Command::new(shell);
    if is_cmd {
        command.args(["/d", "/s", "/c"]);
        push_verbatim(&mut command, line);
    } else {
        command.arg("-c").arg(line);
    }
    command
}

fn is_cmd(shell: &str) -> bool {
    let name = shell.rsplit('\\').next().unwrap_or(shell).to_ascii_lowercase();
    name == "cmd" || name == "cmd.exe"
}

/// Whether the script starts a batch file, whose arguments `cmd` parses twice. Packages' commands
/// are batch files on Windows.
fn runs_batch_file(script: &str) -> bool {
    let first = script.split(' ').next().unwrap_or_default().trim_matches(['"', '\'']).to_ascii_lowercase();
    first != "node" && std::path::Path::new(&first).extension().is_none_or(|extension| extension != "exe")
}

#[cfg(windows)]
fn push_verbatim(command: &mut Command, line: String) {
    command.raw_arg(format!("\"{line}\""));
}

#[cfg(not(windows))]
fn push_verbatim(command: &mut Command, line: String) {
    command.arg(line);
}

/// Puts an argument in single quotes, if necessary.
pub fn for_sh(argument: &str) -> String {
    const SPECIAL: &str = "\t\n\r \"#$&'()*;<>?\\`|~";
    if argument.is_empty() {
        return "''".to_owned();
    }
    if !argument.contains(|character| SPECIAL.contains(character)) {
        return argument.to_owned();
    }
    let quoted = format!("'{}'", argument.replace('\'', "'\\''"));
    // A quote at the border leaves an empty pair.
    let trimmed = quoted.trim_start_matches("''");
    let quoted = if trimmed.is_empty() { &quoted } else { trimmed };
    quoted.replace("\\'''", "\\'")
}

/// Puts an argument in double quotes and escapes `cmd`'s special characters, twice for a batch
/// file.
fn for_cmd(argument: &str, twice: bool) -> String {
    if argument.is_empty() {
        return "\"\"".to_owned();
    }
    let mut quoted = String::new();
    if argument.contains([' ', '\t', '\n', '\u{b}', '"']) {
        quoted.push('"');
        let mut backslashes = 0;
        for character in argument.chars() {
            match character {
                '\\' => backslashes += 1,
                '"' => {
                    quoted.push_str(&"\\".repeat(backslashes * 2 + 1));
                    quoted.push('"');
                    backslashes = 0;
                }
                other => {
                    quoted.push_str(&"\\".repeat(backslashes));
                    quoted.push(other);
                    backslashes = 0;
                }
            }
        }
        quoted.push_str(&"\\".repeat(backslashes * 2));
        quoted.push('"');
    } else {
        quoted.push_str(argument);
    }
    let escape = |text: String| {
        text.chars().flat_map(|c| " !%^&()<>|\"".contains(c).then_some('^').into_iter().chain([c])).collect::<String>()
    };
    let once = escape(quoted);
    if twice { escape(once) } else { once }
}

#[cfg(test)]
mod tests {
    use super::{for_cmd, for_sh};

    #[test]
    fn arguments_are_quoted_as_npm_quotes_them() {
        for (argument, expected) in [
            ("", "''"),
            ("plain-1.0_@/x", "plain-1.0_@/x"),
            ("b c", "'b c'"),
            ("it's", r"'it'\''s'"),
            ("'quoted'", r"\''quoted'\'"),
            ("'", r"\'"),
            ("$HOME", "'$HOME'"),
            ("a\\b", "'a\\b'"),
        ] {
            assert_eq!(for_sh(argument), expected, "{argument}");
        }
    }

    #[test]
    fn arguments_for_cmd_are_escaped_once_or_twice() {
        for (argument, once, twice) in [
            ("", "\"\"", "\"\""),
            ("test", "test", "test"),
            ("%PATH%", "^%PATH^%", "^^^%PATH^^^%"),
            ("has \"quotes\"", r#"^"has^ \^"quotes\^"^""#, r#"^^^"has^^^ \^^^"quotes\^^^"^^^""#),
            (r"a b\", r#"^"a^ b\\^""#, r#"^^^"a^^^ b\\^^^""#),
        ] {
            assert_eq!(for_cmd(argument, false), once, "{argument}");
            assert_eq!(for_cmd(argument, true), twice, "{argument}");
        }
    }
}
