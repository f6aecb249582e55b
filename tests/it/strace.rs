//! What a scan does to the host, as the kernel sees it: it opens nothing for writing, starts nothing, talks to nobody.

use std::process::Command;

use crate::support::{Folder, repository};

/// Calls that could change the host, start a program or talk to somebody.
const WATCHED: &str = "trace=open,openat,openat2,creat,execve,execveat,connect,bind,sendto,sendmsg,socket,unlink,unlinkat,\
rename,renameat,renameat2,mkdir,mkdirat,rmdir,symlink,symlinkat,link,linkat,mknod,mknodat,chmod,fchmodat,chown,fchownat,\
truncate,ftruncate,mount,umount2,setns,init_module,finit_module,ptrace,reboot,sethostname";

fn has_strace() -> bool {
    let ok = |arguments: &[&str]| Command::new("strace").args(arguments).output().is_ok_and(|out| out.status.success());
    // It may be there and be forbidden, as in some containers.
    ok(&["-V"]) && ok(&["-e", "trace=execve", "true"])
}

/// What a line of the trace says that a read-only program must not do.
fn offence(line: &str, starts: &mut usize) -> Option<&'static str> {
    let call = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').split('(').next().unwrap_or_default();
    match call {
        "open" | "openat" | "openat2" => {
            let words = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"];
            words.iter().any(|word| line.contains(word)).then_some("opens for writing")
        }
        "execve" | "execveat" => {
            *starts += 1;
            (*starts > 1).then_some("starts a program")
        }
        "connect" | "bind" => (!line.contains("AF_NETLINK")).then_some("leaves netlink"),
        // The pair of sockets between the program and its worker has no address, and what connects elsewhere is seen above.
        "sendto" | "sendmsg" => {
            let descriptor =
                line.split_once('(').map_or("", |(_, arguments)| arguments.split(',').next().unwrap_or_default());
            let is_local = ["<UNIX", "<NETLINK"].iter().any(|kind| descriptor.contains(kind));
            (!is_local).then_some("sends outside netlink")
        }
        "socket" => (!["AF_NETLINK", "AF_INET,", "AF_INET6,", "AF_UNIX"].iter().any(|family| line.contains(family)))
            .then_some("opens a socket of a family that it does not need"),
        // The rest of a call that was interrupted, a signal or an exit.
        "" | "<... " => None,
        name if WATCHED.split([',', '=']).any(|watched| watched == name) => Some("changes the host"),
        _ => None,
    }
}

/// What a run of the program does that a read-only one must not; none, with a word on it, where nobody can watch.
#[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
pub fn offences(arguments: &[&str]) -> Option<Vec<String>> {
    if !has_strace() {
        println!("skipped: strace is missing or not permitted here");
        return None;
    }
    let folder = Folder::new();
    let trace = folder.at("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-yy", "-s", "64", "-e", WATCHED, "-o", &trace, env!("CARGO_BIN_EXE_netdoctor")]);
    command.args(arguments).current_dir(repository());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&trace).unwrap();
    let mut starts = 0;
    let offences: Vec<String> =
        text.lines().filter_map(|line| Some(format!("{}: {line}", offence(line, &mut starts)?))).collect();
    assert_eq!(starts, 1, "the trace shows the start of the program itself");
    assert!(text.lines().filter(|line| line.contains("openat(")).count() > 10, "the trace shows what was read");
    assert!(text.contains("AF_NETLINK"), "the trace shows the netlink sockets");
    Some(offences)
}

#[test]
fn a_scan_only_reads() {
    if let Some(offences) = offences(&["scan", "--interval", "0", "-f", "json"]) {
        assert_eq!(offences, Vec::<String>::new());
    }
}

#[test]
fn the_eye_on_the_trace_is_open() {
    for (line, told) in [
        (r#"12 openat(AT_FDCWD, "/etc/x", O_RDONLY|O_CLOEXEC) = 3"#, None),
        (r#"12 openat(AT_FDCWD, "/etc/x", O_WRONLY|O_CREAT, 0666) = 3"#, Some("opens for writing")),
        (r#"12 openat(AT_FDCWD, "/sys/x", O_RDWR) = -1 EACCES"#, Some("opens for writing")),
        (r#"12 execve("/bin/sh", ["sh"], 0x7f /* 9 vars */) = 0"#, Some("starts a program")),
        (r"12 connect(3, {sa_family=AF_INET, sin_port=htons(53)}, 16) = 0", Some("leaves netlink")),
        (r"12 connect(3, {sa_family=AF_NETLINK, nl_pid=0}, 12) = 0", None),
        (r#"12 sendto(4<UDP:[77]>, "<UNIX", 6, 0, {sa_family=AF_INET}, 16) = 6"#, Some("sends outside netlink")),
        (r#"12 sendto(4<UNIX-STREAM:[78->77]>, "x", 1, 0, NULL, 0) = 1"#, None),
        (r#"12 sendto(4<NETLINK:[ROUTE:9]>, "x", 1, 0, NULL, 0) = 1"#, None),
        (r"12 socket(AF_PACKET, SOCK_RAW, 768) = 4", Some("opens a socket of a family that it does not need")),
        (r#"12 unlink("/tmp/x") = 0"#, Some("changes the host")),
        (r"12 +++ exited with 0 +++", None),
    ] {
        let mut starts = 1;
        assert_eq!(offence(line, &mut starts), told, "{line}");
    }
}
