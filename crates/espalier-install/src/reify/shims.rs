//! Commands on Windows: scripts for three shells, with exactly npm's text (`cmd-shim`).
//!
//! This module only makes texts, so they can be compared with npm's on any system.

use std::fmt::Write as _;

/// The scripts of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shims {
    /// `<name>.cmd`, for the command prompt.
    pub cmd: String,
    /// `<name>`, for Cygwin, MSYS and WSL.
    pub sh: String,
    /// `<name>.ps1`, for PowerShell.
    pub powershell: String,
}

/// The interpreter in the first line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Interpreter<'a> {
    variables: &'a str,
    program: &'a str,
    arguments: &'a str,
}

/// The scripts for a program. `target` is its path relative to their folder, with forward slashes.
pub fn shims(target: &str, content: &str) -> Shims {
    let first = content.trim().lines().next().unwrap_or_default().trim_end_matches('\r');
    let interpreter = interpreter(first);
    Shims {
        cmd: cmd(target, interpreter.as_ref()),
        sh: sh(target, interpreter.as_ref()),
        powershell: powershell(target, interpreter.as_ref()),
    }
}

/// Parses `#!program arguments` or `#!/usr/bin/env [-S] [NAME=value …] program arguments`.
fn interpreter(line: &str) -> Option<Interpreter<'_>> {
    let line = line.strip_prefix("#!")?.trim_start();
    let mut rest = line;
    let mut variables = "";
    if let Some(after) = line.strip_prefix("/usr/bin/env").filter(|after| after.starts_with([' ', '\t'])) {
        rest = after.trim_start();
        if let Some(after) = rest.strip_prefix("-S").filter(|after| after.starts_with([' ', '\t'])) {
            rest = after.trim_start();
        }
        let beginning = rest;
        while let Some((word, _)) = rest.split_once([' ', '\t'])
            && word
                .split_once('=')
                .is_some_and(|(name, value)| !name.is_empty() && !value.is_empty() && !value.contains('='))
        {
            rest = rest[word.len()..].trim_start();
        }
        variables = &beginning[..beginning.len() - rest.len()];
    }
    let end = rest.find([' ', '\t']).unwrap_or(rest.len());
    let (program, arguments) = rest.split_at(end);
    (!program.is_empty()).then_some(Interpreter { variables, program, arguments })
}

fn cmd(target: &str, interpreter: Option<&Interpreter<'_>>) -> String {
    const HEAD: &str = "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\n\
                        CALL :find_dp0\r\n";
    let target = target.replace('/', "\\");
    let Some(Interpreter { variables, program, arguments }) = interpreter else {
        return format!("{HEAD}\"%dp0%\\{target}\"   %*\r\n");
    };
    let mut set = String::new();
    for (name, value) in variables.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        let _ = write!(set, "@SET {name}={}\r\n", with_percents(value));
    }
    format!(
        "{HEAD}{set}\r\nIF EXIST \"%dp0%\\{program}.exe\" (\r\n  SET \"_prog=%dp0%\\{program}.exe\"\r\n) ELSE (\r\n  \
         SET \"_prog={}\"\r\n)\r\n\r\nendLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & \
         set PATHEXT=%PATHEXT:;.JS;=;% & \"%_prog%\" {} \"%dp0%\\{target}\" %*\r\n",
        program.trim_matches('"'),
        arguments.trim(),
    )
}

/// `$NAME` and `${NAME}` in the notation of the command prompt: `%NAME%`.
fn with_percents(value: &str) -> String {
    let mut result = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        let after = rest[at + 1..].strip_prefix('{').unwrap_or(&rest[at + 1..]);
        let ends = |character: char| "$@#?- \t{}:".contains(character);
        let name = &after[..after.find(ends).unwrap_or(after.len())];
        if name.is_empty() {
            result += &rest[..=at];
            rest = &rest[at + 1..];
            continue;
        }
        let _ = write!(result, "{}%{name}%", &rest[..at]);
        let after = &after[name.len()..];
        rest = after.strip_prefix('}').unwrap_or(after);
    }
    result + rest
}

fn sh(target: &str, interpreter: Option<&Interpreter<'_>>) -> String {
    const HEAD: &str = r#"#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\,/,g')")
basedir_win="$basedir"

case `uname -a` in
  *CYGWIN*|*MINGW*|*MSYS*)
    if command -v cygpath > /dev/null 2>&1; then
      basedir_win=`cygpath -w "$basedir"`
    fi
  ;;
  *WSL2*)
    if command -v wslpath > /dev/null 2>&1; then
      basedir_win="$(wslpath -w "$basedir" 2> /dev/null)"
      if [ $? -ne 0 ] || [ -z "$basedir_win" ]; then
        echo "Error: wslpath failed to convert path. WSL environment may be misconfigured." >&2
        exit 1
      fi
    fi
  ;;
esac

"#;
    let Some(Interpreter { variables, program, arguments }) = interpreter else {
        return format!("{HEAD}exec \"$basedir/{target}\"   \"$@\"\n");
    };
    let (arguments, plain) = (arguments.trim(), program.replace('\\', "/"));
    format!(
        "{HEAD}PROG_EXE=\"$basedir/{program}.exe\"\nif ! [ -x \"$PROG_EXE\" ]; then\n  PROG_EXE=\"$basedir/{program}\"\n  \
         if ! [ -x \"$PROG_EXE\" ]; then\n    PROG_EXE={plain}\n    if ! [ -x \"$PROG_EXE\" ]; then\n      \
         PROG_EXE={plain}.exe\n    fi\n  fi\nfi\n\nexec {variables}\"$PROG_EXE\" {arguments} \"$basedir_win/{target}\" \
         \"$@\"\n"
    )
}

fn powershell(target: &str, interpreter: Option<&Interpreter<'_>>) -> String {
    const HEAD: &str = "#!/usr/bin/env pwsh\n$basedir=Split-Path $MyInvocation.MyCommand.Definition -Parent\n\n$exe=\"\"\n\
                        if ($PSVersionTable.PSVersion -lt \"6.0\" -or $IsWindows) {\n  \
                        # Fix case when both the Windows and Linux builds of Node\n  \
                        # are installed in the same directory\n  $exe=\".exe\"\n}\n";
    let Some(Interpreter { program, arguments, .. }) = interpreter else {
        let call = format!("\"$basedir/{target}\"   $args");
        return format!(
            "{HEAD}# Support pipeline input\nif ($MyInvocation.ExpectingInput) {{\n  $input | & {call}\n}} else {{\n  & \
             {call}\n}}\nexit $LASTEXITCODE\n"
        );
    };
    let rest = format!("{} \"$basedir/{target}\" $args", arguments.trim());
    let calls = |program: &str| {
        format!(
            "  # Support pipeline input\n  if ($MyInvocation.ExpectingInput) {{\n    $input | & {program} {rest}\n  }} else \
             {{\n    & {program} {rest}\n  }}\n  $ret=$LASTEXITCODE\n"
        )
    };
    let (beside, on_path) = (format!("\"$basedir/{program}$exe\""), format!("\"{}$exe\"", program.replace('\\', "/")));
    format!(
        "{HEAD}$ret=0\nif (Test-Path {beside}) {{\n{}}} else {{\n{}}}\nexit $ret\n",
        calls(&beside),
        calls(&on_path)
    )
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::{Shims, shims};

    #[derive(Deserialize)]
    struct Case {
        target: String,
        content: String,
        cmd: String,
        sh: String,
        ps1: String,
    }

    /// The texts were recorded from npm's own `cmd-shim`.
    #[test]
    fn the_texts_are_npms() {
        let cases: Vec<Case> = serde_json::from_str(include_str!("shims.json")).expect("cases");
        for Case { target, content, cmd, sh, ps1 } in cases {
            assert_eq!(shims(&target, &content), Shims { cmd, sh, powershell: ps1 }, "{content}");
        }
    }
}
