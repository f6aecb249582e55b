//! The command line: one file per command, arguments in, text out. Nothing here writes; `main` does.

mod analyze;
mod ceiling;
mod collect;
mod facts;
mod output;
mod quantities;
mod rules;
mod scan;
mod trace;
mod watch;
mod what_if;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub use output::{Output, Terminal, ToWrite};

/// Exit codes.
pub mod exit {
    /// Nothing at or above `--fail-on`.
    pub const CLEAN: u8 = 0;
    /// A fault or risk at or above `--fail-on`; for the rule commands: a problem.
    pub const FOUND: u8 = 1;
    /// The command line makes no sense.
    pub const USAGE: u8 = 2;
    /// An input could not be read, or nothing in it was recognised.
    pub const INPUT: u8 = 3;
    /// A fault of the program itself.
    pub const INTERNAL: u8 = 4;
}

/// Read-only diagnosis of Linux network performance.
#[derive(Debug, Parser)]
#[command(name = "netdoctor", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 nothing at or above --fail-on; 1 something (faults and risks only); 2 usage; \
3 input unreadable or not recognised; 4 internal error.
netdoctor opens nothing for writing but the files named by -o, changes no setting, sends no packet and runs no other program.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Read this host, diagnose it, report
    Scan(scan::Arguments),
    /// A line a second with the loss counters that move, by interface and place
    Watch(watch::Arguments),
    /// Pack what scan reads, the report and what could not be read into one file for support
    Collect(collect::Arguments),
    /// The same diagnosis from a capture
    Analyze(analyze::Arguments),
    /// How fast an interface would go, by figures or by a capture
    Ceiling(Box<ceiling::Arguments>),
    /// List, show, check, test and trace rules
    #[command(subcommand)]
    Rules(rules::Command),
    /// The vocabulary of the rules, and every reading with its state and source
    #[command(subcommand)]
    Facts(facts::Command),
}

/// Output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal
    Text,
    /// Markdown
    Md,
    /// One self-contained HTML file
    Html,
    /// The JSON contract netdoctor.report/1
    Json,
}

/// Severity that makes the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Critical,
    Warning,
    Advice,
    Info,
    /// Never
    Never,
}

/// What a report is made of and where it goes.
#[derive(Debug, clap::Args)]
pub struct ReportArguments {
    /// Output format; may be given several times, each with its -o [default: by the ending of -o, else text]
    #[arg(short, long, value_enum)]
    format: Vec<Format>,
    /// File to write instead of standard output; the n-th belongs to the n-th -f
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// All findings and hygiene notes, each reading with its source
    #[arg(short, long)]
    verbose: bool,
    /// Severity of a fault or risk from which the exit code is 1
    #[arg(long, value_enum, default_value = "critical", value_name = "SEVERITY")]
    fail_on: FailOn,
    /// A measured result (iperf3 as text or JSON, iperf 2, netperf, nuttcp, perftest); IFACE=FILE where addresses do not tell the interface
    #[arg(long, value_name = "[IFACE=]FILE")]
    measured: Vec<String>,
    /// What the host is for: some rules weigh more for one kind of work than for another
    #[arg(long, value_enum, value_name = "WORK")]
    workload: Option<Workload>,
    #[command(flatten)]
    rules: RuleArguments,
}

/// What a host is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Workload {
    /// Large transfers
    Throughput,
    /// Short answers
    Latency,
    /// Packets of others
    Router,
    /// Files or blocks for other hosts
    Storage,
    /// Virtual machines or containers
    Hypervisor,
}

impl Workload {
    /// The word of the fact `host.workload`.
    fn word(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::Router => "router",
            Self::Storage => "storage",
            Self::Hypervisor => "hypervisor",
        }
    }
}

/// Which rules are in force.
#[derive(Debug, clap::Args)]
pub struct RuleArguments {
    /// Folder of rules that add to, or by id replace, those that are built in (also read: /etc/netdoctor/rules.d and
    /// $XDG_CONFIG_HOME/netdoctor/rules.d)
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
}

/// What the surroundings give to a command.
pub struct Surroundings<'a> {
    /// The terminal, if standard output is one.
    pub terminal: Terminal,
    /// Told what is going on; shown on a terminal only.
    pub progress: &'a mut dyn FnMut(&str),
    /// Writes a line to standard output at once; false where nobody listens any more.
    pub line: &'a mut dyn FnMut(&str) -> bool,
}

/// Parses a command line; the error is clap's own (usage, or the help that was asked for).
pub fn parse(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(arguments)
}

/// Runs a command.
pub fn run(arguments: Arguments, surroundings: &mut Surroundings<'_>) -> Output {
    match arguments.command {
        Command::Scan(arguments) => scan::run(&arguments, surroundings),
        Command::Watch(arguments) => watch::run(&arguments, surroundings),
        Command::Collect(arguments) => collect::run(&arguments, surroundings),
        Command::Analyze(arguments) => analyze::run(&arguments, surroundings),
        Command::Ceiling(arguments) => ceiling::run(&arguments),
        Command::Rules(command) => rules::run(&command, surroundings),
        Command::Facts(command) => facts::run(&command, surroundings),
    }
}
