//! The program: parses the command line, calls the library, writes what comes back. Nothing else writes.
#![allow(clippy::print_stderr, reason = "this is the edge")]

use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;

use netdoctor::cli::{self, Output, Surroundings, Terminal, ToWrite, exit};
use netdoctor::report::escape::visible;

fn main() -> ExitCode {
    let arguments = match cli::parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => {
            // clap knows by itself whether this is help for standard output or an error for standard error.
            let code = if error.use_stderr() { exit::USAGE } else { exit::CLEAN };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let attended = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    let mut shown = 0;
    let mut progress = |what: &str| {
        if attended {
            let line = visible(what);
            eprint!("\r{line:<shown$}");
            shown = line.chars().count();
        }
    };
    let mut line = |text: &str| {
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{text}").and_then(|()| stdout.flush()).is_ok()
    };
    let output =
        cli::run(arguments, &mut Surroundings { terminal: terminal(), progress: &mut progress, line: &mut line });
    if shown > 0 {
        eprint!("\r{:shown$}\r", "");
    }
    ExitCode::from(write(&output))
}

fn terminal() -> Terminal {
    let stdout = std::io::stdout();
    let colour = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).or(columns);
    Terminal { width, colour }
}

/// Writes everything; a closed pipe is no error, and changes no exit code.
fn write(output: &Output) -> u8 {
    for problem in &output.err {
        complain(problem);
    }
    let mut code = output.code;
    for file in &output.files {
        if let Err(error) = write_file(file) {
            complain(&format!("{}: can't be written: {error}", file.path.display()));
            code = exit::USAGE;
        }
    }
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(output.out.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            complain(&format!("standard output: can't be written: {error}"));
            exit::USAGE
        }
        Ok(()) | Err(_) => code,
    }
}

fn write_file(file: &ToWrite) -> std::io::Result<()> {
    let mode = if file.private { 0o600 } else { 0o666 };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode).open(&file.path)?.write_all(&file.bytes)
}

/// Tells a problem on standard error, each line without control characters. Where that can't be written, nobody listens.
fn complain(problem: &str) {
    let lines: Vec<_> = problem.lines().map(visible).collect();
    let _ = writeln!(std::io::stderr().lock(), "netdoctor: {}", lines.join("\n"));
}
