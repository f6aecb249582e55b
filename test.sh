#!/usr/bin/env bash
# Everything that must hold before a change is merged. CI runs the same. Usage: ./test.sh [--long]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
PATH=$PATH${HOME:+:$HOME/.cargo/bin}:/usr/sbin:/sbin

usage() {
    cat <<'END'
Usage: ./test.sh [--long]

Runs formatting, clippy, all tests, the checks and tests of the rules, shellcheck and a scan of this
host. Stops at the first failure. Debian packages that are missing are installed where root or sudo
without a password allows it.

  --long   also the ignored tests and more cases of the property tests (minutes)
END
}

long=false
for argument in "$@"; do
    case $argument in
        --long) long=true ;;
        -h | --help)
            usage
            exit 0
            ;;
        *)
            usage >&2
            exit 2
            ;;
    esac
done

say() { printf 'test.sh: %s\n' "$*"; }

fail() {
    say "FAILED: $*" >&2
    exit 1
}

# step NAME COMMAND...: runs the command with its output as it is, and says how long it took.
step() {
    local name=$1 begin=$SECONDS code=0
    shift
    printf '\n== %s\n' "$name"
    "$@" || code=$?
    ((code == 0)) || fail "$name (exit code $code after $((SECONDS - begin)) s): $*"
    printf '== %s: ok, %d s\n' "$name" "$((SECONDS - begin))"
}

has() { command -v "$1" >/dev/null 2>&1; }

# Prints the Debian packages whose program or header is not there.
missing_packages() {
    has gcc || echo gcc
    [[ -e /usr/include/stdio.h ]] || echo libc6-dev
    has ip || echo iproute2
    has ethtool || echo ethtool
    has lspci || echo pciutils
    has strace || echo strace
    has shellcheck || echo shellcheck
}

install_packages() {
    local missing root=()
    mapfile -t missing < <(missing_packages)
    ((${#missing[@]} > 0)) || return 0
    if ! has apt-get; then
        say "missing, and there is no apt-get to install them (Debian names): ${missing[*]}; going on without"
        return 0
    fi
    if ((EUID != 0)); then
        if ! has sudo || ! sudo -n true 2>/dev/null; then
            say "missing, and not root to install them: ${missing[*]}; going on without"
            return 0
        fi
        root=(sudo -n)
    fi
    say "installing ${missing[*]}"
    if ! { "${root[@]}" apt-get update -qq &&
        "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; }; then
        say "apt-get could not install ${missing[*]}; going on without"
    fi
}

check_rust() {
    has cargo || fail "cargo is not there. Install Rust 1.89 or newer with rustup (see https://www.rust-lang.org/tools/install)"
    cargo fmt --version >/dev/null 2>&1 || fail "cargo fmt is not there: rustup component add rustfmt"
    cargo clippy --version >/dev/null 2>&1 || fail "cargo clippy is not there: rustup component add clippy"
}

tests=(cargo test)
if $long; then
    # Tests named record_* write fixtures: they are run by hand only.
    tests=(env NETDOCTOR_LONG=1 "PROPTEST_CASES=${PROPTEST_CASES:-20000}" cargo test -- --include-ignored --skip record_)
fi

check_scripts() {
    local scripts
    has shellcheck || {
        say "skipped: shellcheck is not there"
        return 0
    }
    mapfile -t scripts < <(find . \( -name target -o -name .git \) -prune -o -name '*.sh' -print | sort)
    shellcheck "${scripts[@]}" .ci/run
}

# The program as the tests were built: `cargo run` would leave out the features that only tests ask for, and so build
# half of the dependencies a second time.
build_program() {
    local target
    cargo build --all-targets || return
    target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
    program=$target/debug/netdoctor
    [[ -x $program ]] || fail "$program was not built"
}

install_packages
check_rust
step "format" cargo fmt --check
step "clippy" cargo clippy --all-targets -- -D warnings
step "tests" "${tests[@]}"
step "program" build_program
step "rules: check" "$program" rules check rules
step "rules: cases and mutants" "$program" rules test
step "scripts" check_scripts
# What the scan finds on this host is no matter of ours; that it ends with a report is.
step "smoke" "$program" scan --interval 0 --fail-on never
printf '\n'
say "all passed in $SECONDS s"
