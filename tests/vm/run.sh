#!/bin/bash
# run.sh - run a program inside a throw-away QEMU machine that has real kernel
# NIC drivers, a real PCIe tree and two NUMA nodes, and bring back what it wrote.
#
#   run.sh [options] PAYLOAD OUTDIR [ARG...]
#
#   PAYLOAD   a static or dynamic binary, or a script (#!/bin/sh is dash, #!/bin/bash
#             works too; the usual small tools are busybox's).
#             It runs as root as  /payload/NAME ARG...  with $OUT=/out.
#   OUTDIR    folder on this machine: receives everything the payload left in
#             $OUT, plus stdout, stderr, rc, console.log and timing.
#
#   -a SRC[:DEST]  also put the file or folder SRC into the machine
#                  (DEST: an absolute path; default /payload/<basename of SRC>)
#   -u             run the payload as an unprivileged user (uid 1000)
#   -m MODULE      load one more kernel module (repeatable)
#   -t SECONDS     wall clock limit for the machine (default 300)
#   -p             only fetch and unpack the packages, then stop
#
# Exit status: that of the payload; 125 if the machine never reported one;
# 2 for a wrong call.
#
# Environment:
#   VM_CACHE     cache folder (default ${XDG_CACHE_HOME:-$HOME/.cache}/netdoctor-vm)
#   VM_ACCEL     tcg,thread=single (default: with several threads on 2 cores timers get lost and the guest stalls) | kvm | any argument of qemu's -accel
#   VM_KERNEL    kernel package to use (default: what linux-image-amd64 of
#                bookworm-backports depends on)
#   VM_NETDEVSIM 1: also build the netdevsim module (Debian ships none) from
#                linux-source; needs gcc and make here, +170 MB download, once
#   VM_DEBUG     1: kernel messages on the console, keep the work folder
#
# Needs: Debian's apt-get, dpkg-deb and its archive keyring; root is needed only
# for the tap backend (multi-queue virtio). Nothing is installed on the system:
# packages are downloaded with a private apt configuration and unpacked with
# dpkg-deb -x, so no maintainer script ever runs.
set -euo pipefail

SUITE=bookworm
# The mirrors that this machine's own apt uses.
configured() {
    local line
    line=$(grep -rhoE "https?://[^ ]+/$1/?( |\$)" /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null || true)
    line=${line%%$'\n'*}; line=${line%% *}; printf '%s' "${line%/}"
}
MIRROR=${VM_MIRROR:-$(configured debian)}
SECURITY=${VM_SECURITY_MIRROR:-$(configured debian-security)}
if [ -z "$MIRROR" ] || [ -z "$SECURITY" ]; then
    echo "run.sh: no Debian mirror in apt's sources: set VM_MIRROR and VM_SECURITY_MIRROR" >&2
    exit 2
fi
CACHE=${VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/netdoctor-vm}
ACCEL=${VM_ACCEL:-tcg,thread=single}

# Packages whose files are used on this side (qemu) and inside the machine.
PACKAGES=(qemu-system-x86 busybox-static dash bash kmod ethtool iproute2 pciutils iperf3 dmidecode libgcc-s1 xz-utils)

# ------------------------------------------------------------------ topology
# THE one place that says what hardware the machine has.
#
#   node 0  pxb.0 ─┬─ rp-a   8 GT/s x4  ── igb0      82576, SR-IOV capable   wire1
#                  ├─ rp-b 2.5 GT/s x1  ── e1000e0   82574L                  wire1
#                  ├─ rp-c  16 GT/s x16 ── sw-up (TI X3130 switch)
#                  │                        ├─ sw-d0 ── vio0   virtio-net, 4 queue pairs  tap
#                  │                        └─ sw-d1 ── vmx0   vmxnet3       wire2
#                  └─ rp-e   8 GT/s x8  ── (empty slot)
#   node 1  pxb.1 ─┬─ rp-n1  8 GT/s x8  ── igb1      82576                   wire2
#                  └─ rp-n2  5 GT/s x4  ── vio1      virtio-net, 10 Gb/s     wire3
#   no node pcie.0 ┬─ rp-d   5 GT/s x2  ── br-d (PCIe to PCI bridge)
#                  │                        └─ rtl0   8139 (conventional PCI, 100 Mb/s)  wire3
#                  └─ lom0   e1000, on the root bus itself (no PCIe link)             not wired
#
# A wire is an Ethernet hub inside qemu: the NICs on one wire see each other.
# GT/s and lanes are what the PORT offers (its max_link_*). qemu's NICs always
# report a 2.5 GT/s x1 link of their own, and a port's current link is the smaller
# of the two; an empty port shows its maximum, the switch's downstream ports show
# "Unknown" x0. Only the ports' maxima can therefore be chosen here.
topology() {
    machine q35 4 1024                     # type, CPUs (half per node), MiB (half per node)

    #         id     addr  first bus  NUMA node
    expander  pxb.0  8     0x20       0
    expander  pxb.1  9     0x40       1
    #         id     parent  addr  GT/s  lanes
    root_port rp-a   pxb.0   0     8     4
    root_port rp-b   pxb.0   1     2_5   1
    root_port rp-c   pxb.0   2     16    16
    root_port rp-d   pcie.0  5     5     2      # not below pxb: INTx does not arrive from there
    root_port rp-e   pxb.0   4     8     8
    root_port rp-n1  pxb.1   0     8     8
    root_port rp-n2  pxb.1   1     5     4
    #         id     parent
    switch_up sw-up  rp-c
    switch_dn sw-d0  sw-up   0
    switch_dn sw-d1  sw-up   1
    pci_bridge br-d  rp-d

    #   name     qemu device     bus     backend  extra properties
    nic igb0     igb             rp-a    wire1
    nic e1000e0  e1000e          rp-b    wire1
    nic vio0     virtio-net-pci  sw-d0   tap:4    mq=on,vectors=10,rx_queue_size=1024
    nic vmx0     vmxnet3         sw-d1   wire2
    nic rtl0     rtl8139         br-d    wire3    addr=1
    nic igb1     igb             rp-n1   wire2
    nic vio1     virtio-net-pci  rp-n2   wire3    speed=10000,duplex=full
    nic lom0     e1000           pcie.0  none     addr=0x1c

    # What dmidecode and /sys/class/dmi/id say.
    smbios type=0,vendor="netdoctor testbed",version=1.0
    smbios type=1,manufacturer=QEMU,product="netdoctor test machine",serial=NDTEST0001
    smbios type=2,manufacturer=QEMU,product=q35
    #           designation    id  width code (SMBIOS 7.10.2: 8=x1 10=x4 13=x16)  port
    slot        "PCIe Slot 1"  1   10   rp-a
    slot        "PCIe Slot 2"  2   8    rp-b
}

# Kernel modules for the machine (their dependencies are added by themselves).
MODULES="crc32c_generic igb igbvf e1000e e1000 vmxnet3 8139cp virtio_pci virtio_net virtio_console
 bonding team team_mode_roundrobin team_mode_activebackup team_mode_loadbalance
 dummy macvlan macvtap ipvlan vxlan geneve wireguard ifb tun bridge br_netfilter
 8021q veth vrf sit ipip ip_gre
 sch_netem sch_tbf sch_htb sch_fq sch_fq_codel sch_cake sch_ingress sch_mqprio
 cls_u32 cls_matchall act_mirred act_police tcp_bbr tcp_dctcp
 nf_tables nft_limit nf_conntrack nft_ct psample"

# --------------------------------------------------------- topology verbs
QARGS=(); NICMAP=; CHASSIS=0
machine() {
    local half=$(($3 / 2))M c=$(($2 / 2)) cpu=max
    [ "$ACCEL" != kvm ] || cpu=max,arch-capabilities=off
    QARGS+=(-M "$1" -cpu "$cpu" -smp "$2" -m "$3"
        -object "memory-backend-ram,id=m0,size=$half" -object "memory-backend-ram,id=m1,size=$half"
        -numa "node,nodeid=0,memdev=m0,cpus=0-$((c - 1))" -numa "node,nodeid=1,memdev=m1,cpus=$c-$(($2 - 1))")
}
root_port() { CHASSIS=$((CHASSIS+1))
    QARGS+=(-device "pcie-root-port,id=$1,bus=$2,addr=$3,chassis=$CHASSIS,slot=$CHASSIS,x-speed=$4,x-width=$5"); }
expander()  { QARGS+=(-device "pxb-pcie,id=$1,bus=pcie.0,addr=$2,bus_nr=$3,numa_node=$4"); }
switch_up() { QARGS+=(-device "x3130-upstream,id=$1,bus=$2"); }
switch_dn() { CHASSIS=$((CHASSIS+1))
    QARGS+=(-device "xio3130-downstream,id=$1,bus=$2,addr=$3,chassis=$CHASSIS,slot=$CHASSIS"); }
pci_bridge() { QARGS+=(-device "pcie-pci-bridge,id=$1,bus=$2"); }
smbios()    { QARGS+=(-smbios "$1"); }
slot() { QARGS+=(-smbios "type=9,slot_designation=$1,slot_type=0xa5,slot_data_bus_width=$3,current_usage=4,slot_length=4,slot_id=$2,slot_characteristics1=0x04,slot_characteristics2=0x01,pci_device=$4"); }
nic() {
    local n mac backend=$4 dev="$2,id=$1,bus=$3"
    n=$(wc -w <<<"$NICMAP"); mac=$(printf '52:54:00:d0:00:%02x' $((n+1)))
    NICMAP+="$mac=$1 "
    case $backend in
        none) QARGS+=(-netdev "hubport,id=nd-$1,hubid=$((90+n))") ;;
        wire*) QARGS+=(-netdev "hubport,id=nd-$1,hubid=${backend#wire}") ;;
        tap:*) if [ "$(id -u)" = 0 ] && [ -c /dev/net/tun ]; then
                   QARGS+=(-netdev "tap,id=nd-$1,ifname=vm-$1,script=no,downscript=no,queues=${backend#tap:}")
               else echo "run.sh: no tap here, $1 gets a single queue" >&2
                   QARGS+=(-netdev "hubport,id=nd-$1,hubid=99"); fi ;;
    esac
    QARGS+=(-device "$dev,netdev=nd-$1,mac=$mac${5:+,$5}")
}

# ------------------------------------------------------------- options
die() { echo "run.sh: $*" >&2; exit 2; }
usage() { sed -n '2,/^set -euo/p' "$0" | sed '$d; s/^# \{0,1\}//'; }
ADD=(); MORE=; LIMIT=300; AS_USER=0; PREPARE=0
while getopts a:m:t:uph o; do case $o in
    a) ADD+=("$OPTARG") ;; m) MORE+=" $OPTARG" ;; t) LIMIT=$OPTARG ;;
    u) AS_USER=1 ;; p) PREPARE=1 ;; h) usage; exit 0 ;; *) usage >&2; exit 2 ;;
esac; done
shift $((OPTIND-1))
if [ $PREPARE = 0 ]; then
    [ $# -ge 2 ] || { usage >&2; exit 2; }
    PAYLOAD=$(readlink -f "$1"); OUTDIR=$2; shift 2
    [ -f "$PAYLOAD" ] || die "no such payload: $PAYLOAD"
    mkdir -p "$OUTDIR"; OUTDIR=$(readlink -f "$OUTDIR")
fi
mkdir -p "$CACHE"; CACHE=$(readlink -f "$CACHE")
exec 9>"$CACHE/lock"; flock 9          # one run at a time fills the cache

# ------------------------------------------------------------- packages
ROOT=$CACHE/root                        # unpacked userland (qemu, tools, their libraries)
APTD=$CACHE/apt
apt_() {                                # $1 = apt-get | apt-cache; a private apt world
    local tool=$1; shift
    "$tool" -q -o Dir::Etc::sourcelist="$APTD/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$APTD/lists" -o Dir::State::status="$APTD/status" \
        -o Dir::Cache="$APTD/cache" -o APT::Sandbox::User=root \
        -o Acquire::Languages=none -o APT::Get::List-Cleanup=0 "$@"
}
apt_ready=0
apt_update() {
    [ $apt_ready = 0 ] || return 0
    mkdir -p "$APTD/lists/partial" "$APTD/cache/archives/partial"; : >"$APTD/status"
    local k='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    printf 'deb %s %s main\n' "$k" "$MIRROR $SUITE" "$k" "$MIRROR $SUITE-backports" \
        "$k" "$SECURITY $SUITE-security" >"$APTD/sources.list"
    apt_ apt-get update >"$APTD/update.log" 2>&1 || { cat "$APTD/update.log" >&2; exit 125; }
    apt_ready=1
}
fetch_root() {
    local stamp d
    stamp=$ROOT/.done-$(cksum <<<"${PACKAGES[*]}" | cut -d' ' -f1)
    [ ! -e "$stamp" ] || return 0
    echo "run.sh: fetching ${PACKAGES[*]}" >&2; apt_update; rm -rf "$ROOT"; mkdir -p "$ROOT"
    # an empty dpkg status file makes apt resolve the whole closure, libc included
    apt_ apt-get -t $SUITE-backports install -y -d --no-install-recommends "${PACKAGES[@]}" >"$APTD/get.log" 2>&1 \
        || { cat "$APTD/get.log" >&2; exit 125; }
    du -cb "$APTD"/cache/archives/*.deb | tail -1 | cut -f1 >"$CACHE/bytes-root"
    for d in "$APTD"/cache/archives/*.deb; do dpkg-deb -x "$d" "$ROOT"; done
    rm -f "$APTD"/cache/archives/*.deb
    : >"$stamp"
}
LIBPATH=$ROOT/lib/x86_64-linux-gnu:$ROOT/usr/lib/x86_64-linux-gnu
root_run() {                            # run a program of $ROOT with $ROOT's own libraries
    local p=$1; shift
    "$ROOT/lib64/ld-linux-x86-64.so.2" --library-path "$LIBPATH" "$ROOT/$p" "$@"
}
depmod_() { "$ROOT/lib64/ld-linux-x86-64.so.2" --argv0 depmod --library-path "$LIBPATH" "$ROOT/bin/kmod" "$@"; }
fetch_kernel() {
    local pkg=${VM_KERNEL:-}
    [ -n "$pkg" ] || pkg=$(cat "$CACHE/kernel-name" 2>/dev/null || true)
    if [ -z "$pkg" ]; then
        apt_update
        pkg=$(apt_ apt-cache -t $SUITE-backports show linux-image-amd64 |
            sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p' | head -1)
        echo "$pkg" >"$CACHE/kernel-name"
    fi
    KVER=${pkg#linux-image-}; KDIR=$CACHE/kernel-$KVER
    [ -e "$KDIR/.done" ] && return 0
    echo "run.sh: fetching $pkg" >&2; apt_update; rm -rf "$KDIR"; mkdir -p "$KDIR/dl"
    (cd "$KDIR/dl" && apt_ apt-get download "$pkg" >"$APTD/get.log" 2>&1) || { cat "$APTD/get.log" >&2; exit 125; }
    stat -c %s "$KDIR"/dl/*.deb >"$CACHE/bytes-kernel-$KVER"
    dpkg-deb -x "$KDIR"/dl/*.deb "$KDIR"; rm -rf "$KDIR/dl" "${KDIR:?}/usr/share"
    depmod_ -b "$KDIR" "$KVER"
    : >"$KDIR/.done"
}

# ------------------------------------------------- netdevsim (optional)
build_netdevsim() {
    local b=$CACHE/netdevsim-$KVER
    [ -e "$b/netdevsim.ko" ] && return 0
    echo "run.sh: building netdevsim for $KVER" >&2
    apt_update; rm -rf "$b"; mkdir -p "$b/dl"
    local v=${KVER%%+*} hdr=linux-headers-$KVER ver
    ver=$(apt_ apt-cache show "linux-image-$KVER" | sed -n 's/^Version: //p' | head -1)
    ( cd "$b/dl" && apt_ apt-get download "linux-source-$(cut -d. -f1,2 <<<"$v")=$ver" "$hdr=$ver" \
        "linux-headers-${KVER%-amd64}-common=$ver" "linux-kbuild-${KVER%-amd64}=$ver" ) >"$APTD/get.log" 2>&1 \
        || { cat "$APTD/get.log" >&2; exit 125; }
    du -cb "$b"/dl/*.deb | tail -1 | cut -f1 >"$CACHE/bytes-netdevsim"
    for d in "$b"/dl/*.deb; do dpkg-deb -x "$d" "$b/x"; done
    # the headers carry absolute paths; without vmlinux the BTF step (pahole) is skipped
    local h=$b/x/usr/src
    echo "include $h/linux-headers-${KVER%-amd64}-common/Makefile" >"$h/$hdr/Makefile"; rm -f "$h/$hdr/vmlinux"
    mkdir "$b/src"
    root_run usr/bin/xz -dc "$h"/linux-source-*.tar.xz | tar -xf - -C "$b/src" --strip-components=4 \
        --wildcards --no-wildcards-match-slash 'linux-source-*/drivers/net/netdevsim/*'
    make -C "$h/$hdr" M="$b/src" CONFIG_NETDEVSIM=m modules >"$b/make.log" 2>&1 || { tail -20 "$b/make.log" >&2; exit 125; }
    strip --strip-debug -o "$b/netdevsim.ko" "$b/src/netdevsim.ko"; rm -rf "$b/dl" "$b/x"
}

# ------------------------------------------------------------- initramfs
cpio_() { (cd "$1" && find . -mindepth 1 | "$ROOT/bin/busybox" cpio -o -H newc 2>/dev/null); }
copy_libs() {                           # $1 = ELF file on this machine, $2 = tree: add missing libraries
    { ldd "$1" 2>/dev/null || true; } | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' |
    while read -r l; do
        [ -e "$BASE/lib/x86_64-linux-gnu/${l##*/}" ] || [ -e "$BASE$l" ] || install -D "$l" "$2/lib/x86_64-linux-gnu/${l##*/}"
    done
}
BASE_STAMP=
base_image() {                          # tools + modules; rebuilt only when this script or the kernel changes
    BASE_STAMP=$(cksum "$0" | cut -d' ' -f1)-$KVER-$(cksum <<<"$MORE ${VM_NETDEVSIM:-}" | cut -d' ' -f1)
    BASE=$CACHE/base; INITRD=$CACHE/base-$BASE_STAMP.cpio
    [ -e "$INITRD" ] && return 0
    rm -rf "$BASE" "$CACHE"/base-*.cpio
    mkdir -p "$BASE"/{bin,sbin,usr/bin,usr/sbin,proc,sys,dev,run,tmp,out,payload,etc,root,lib/x86_64-linux-gnu,lib64,usr/share/misc,var/run}
    mkdir -p "$BASE/usr/lib"
    cp "$ROOT/bin/busybox" "$BASE/bin/"; ln -s dash "$BASE/bin/sh"
    for f in modprobe insmod lsmod modinfo rmmod; do ln -s kmod "$BASE/bin/$f"; done
    local p f
    for p in usr/sbin/ethtool sbin/ethtool bin/ip sbin/ip usr/bin/ip usr/sbin/ip usr/sbin/tc sbin/tc bin/ss usr/bin/ss \
             usr/sbin/bridge sbin/bridge usr/bin/nstat usr/sbin/devlink sbin/devlink usr/bin/lspci usr/bin/setpci \
             bin/dash bin/bash bin/kmod usr/bin/kmod usr/bin/iperf3 usr/sbin/dmidecode; do
        if [ ! -f "$ROOT/$p" ] || [ -L "$ROOT/$p" ]; then continue; fi
        cp "$ROOT/$p" "$BASE/bin/"
        # closure of the shared libraries, taken from $ROOT
        LD_TRACE_LOADED_OBJECTS=1 root_run "$p" | sed -n 's/.*=> \([^ ]*\) .*/\1/p' | while read -r f; do
            cp -L "$f" "$BASE/lib/x86_64-linux-gnu/"; done
    done
    for f in libgcc_s.so.1 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libc.so.6; do
        cp -L "$ROOT/lib/x86_64-linux-gnu/$f" "$BASE/lib/x86_64-linux-gnu/"; done
    cp -L "$ROOT/lib64/ld-linux-x86-64.so.2" "$BASE/lib64/"
    cp "$ROOT/usr/share/misc/pci.ids" "$BASE/usr/share/misc/"
    cp -r "$ROOT/usr/lib/x86_64-linux-gnu/tc" "$BASE/lib/x86_64-linux-gnu/"      # netem's distribution tables
    ln -s ../../lib/x86_64-linux-gnu "$BASE/usr/lib/x86_64-linux-gnu"
    printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n' >"$BASE/etc/passwd"
    printf 'root:x:0:\nuser:x:1000:\n' >"$BASE/etc/group"
    # modules, uncompressed, with everything they depend on
    local M=lib/modules/$KVER m rel
    for m in $MODULES $MORE; do
        m=${m//-/_}
        grep -E "(^|/)${m//_/[-_]}\.ko[^:]*:" "$KDIR/$M/modules.dep" || true
    done | tr -d : | tr ' ' '\n' | sort -u | while read -r rel; do
        [ -n "$rel" ] || continue
        mkdir -p "$BASE/$M/$(dirname "$rel")"
        case $rel in *.xz) root_run usr/bin/xz -dc "$KDIR/$M/$rel" >"$BASE/$M/${rel%.xz}" ;;
                     *) cp "$KDIR/$M/$rel" "$BASE/$M/$rel" ;; esac
    done
    cp "$KDIR/$M/modules.builtin" "$KDIR/$M/modules.builtin.modinfo" "$KDIR/$M/modules.order" "$BASE/$M/" 2>/dev/null || true
    if [ "${VM_NETDEVSIM:-0}" = 1 ]; then mkdir -p "$BASE/$M/extra"; cp "$CACHE/netdevsim-$KVER"/*.ko "$BASE/$M/extra/"; fi
    depmod_ -b "$BASE" "$KVER"
    mkdir -p "$BASE/etc/modprobe.d"      # no ready-made bond0, dummy0, ifb0
    printf 'options bonding max_bonds=0\noptions dummy numdummies=0\noptions ifb numifbs=0\n' >"$BASE/etc/modprobe.d/quiet.conf"
    write_init "$BASE/init"
    cpio_ "$BASE" >"$INITRD.tmp"; mv "$INITRD.tmp" "$INITRD"
}
write_init() {
    cat >"$1" <<'INIT'
#!/bin/dash
# PID 1 of the test machine. (Not busybox ash: Debian's prefers its own ip, modprobe... applets.)
/bin/busybox --install -s /bin 2>/dev/null             # leaves what is already there alone
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/root LANG=C
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t tmpfs run /run; mount -t tmpfs tmp /tmp; chmod 1777 /tmp
mount -t debugfs debug /sys/kernel/debug; mount -t cgroup2 cg /sys/fs/cgroup 2>/dev/null
mkdir -p /dev/pts /run/netns /var/run; mount -t devpts pts /dev/pts; ln -sfn /run/netns /var/run/netns
. /etc/vm.conf                                   # NICMAP AS_USER MODULES LIMIT
echo "vm: up at $(cut -d' ' -f1 /proc/uptime)"
echo 2 >/proc/sys/net/core/fb_tunnels_only_for_init_net   # no gre0, tunl0, sit0 by default
modprobe -a $MODULES                              # one process: each costs some 60 ms under TCG
for p in /sys/class/virtio-ports/*; do mkdir -p /dev/virtio-ports; ln -sf "/dev/${p##*/}" "/dev/virtio-ports/$(cat $p/name)"; done
i=0; want=$(echo $NICMAP | wc -w)
while [ $i -lt 50 ]; do
    have=0; for d in /sys/class/net/*/device; do [ -e $d ] && have=$((have+1)); done
    [ $have -ge $want ] && break; usleep 100000; i=$((i+1)); done
for d in /sys/class/net/*/; do                   # names by MAC address, so that they never change
    [ -e ${d}device ] || continue
    read -r mac <${d}address; d=${d%/}
    for pair in $NICMAP; do [ $mac = ${pair%=*} ] && echo "link set ${d##*/} name t-${pair#*=}"; done
done | ip -batch -
for pair in $NICMAP; do echo "link set t-${pair#*=} name ${pair#*=}"; done | ip -batch -
ip link set lo up
chown 1000:1000 /out 2>/dev/null; export OUT=/out
echo "vm: payload at $(cut -d' ' -f1 /proc/uptime)"
cd /payload
# a payload that does not end is stopped in time for its output to come back
if [ "$AS_USER" = 1 ]; then timeout -k 5 $LIMIT su user -s /bin/sh -c 'exec "$@"' sh /payload/run >/out/stdout 2>/out/stderr
else timeout -k 5 $LIMIT /payload/run >/out/stdout 2>/out/stderr; fi
echo $? >/out/rc
echo "vm: done at $(cut -d' ' -f1 /proc/uptime), rc $(cat /out/rc)"
dmesg >/out/dmesg.txt 2>/dev/null
tar -C /out -cf - . >/dev/virtio-ports/out
sync; poweroff -f
INIT
    chmod 755 "$1"
}

# ------------------------------------------------------------- run
fetch_root
fetch_kernel
[ "${VM_NETDEVSIM:-0}" != 1 ] || build_netdevsim
base_image
[ $PREPARE = 0 ] || exit 0
topology

WORK=$(mktemp -d "${TMPDIR:-/tmp}/netdoctor-vm.XXXXXX")
QPID=
# shellcheck disable=SC2317 # the trap calls it
cleanup() { [ -z "$QPID" ] || kill "$QPID" 2>/dev/null || true; [ "${VM_DEBUG:-0}" = 1 ] || rm -rf "$WORK"; }
trap cleanup EXIT; trap 'exit 130' INT TERM
BASE=$CACHE/base
mkdir -p "$WORK/add/payload" "$WORK/add/etc"
cp "$PAYLOAD" "$WORK/add/payload/"; chmod 755 "$WORK/add/payload/${PAYLOAD##*/}"; copy_libs "$PAYLOAD" "$WORK/add"
for a in "${ADD[@]+"${ADD[@]}"}"; do
    src=${a%%:*}; dest=/payload/$(basename "$src"); [ "$a" = "$src" ] || dest=${a#*:}
    [ -e "$src" ] || die "no such file: $src"
    mkdir -p "$WORK/add$(dirname "$dest")"; cp -rL "$src" "$WORK/add$dest"
    [ ! -f "$src" ] || copy_libs "$src" "$WORK/add"
done
{ printf '#!/bin/sh\nexec /payload/%q' "${PAYLOAD##*/}"; [ $# = 0 ] || printf ' %q' "$@"; echo; } >"$WORK/add/payload/run"
chmod 755 "$WORK/add/payload/run"
[ "${VM_NETDEVSIM:-0}" != 1 ] || MORE+=" netdevsim"
printf "NICMAP='%s'\nAS_USER=%s\nLIMIT=%s\nMODULES='%s'\n" "$NICMAP" "$AS_USER" \
    $((LIMIT > 90 ? LIMIT - 45 : LIMIT / 2)) "${MODULES//$'\n'/ }$MORE" >"$WORK/add/etc/vm.conf"
cpio_ "$WORK/add" | cat "$INITRD" - >"$WORK/initrd"
flock -u 9

S=$ROOT/usr/share
APPEND="console=ttyS0 panic=-1 net.ifnames=0"
[ "${VM_DEBUG:-0}" = 1 ] || APPEND+=" quiet loglevel=3"
NETNS=(); [ "$(id -u)" != 0 ] || ! unshare -n true 2>/dev/null || NETNS=(unshare -n)   # taps stay out of this machine's network
rm -f "$OUTDIR/rc"
start=$(date +%s.%N)
"${NETNS[@]}" timeout "$LIMIT" "$ROOT/lib64/ld-linux-x86-64.so.2" \
    --library-path "$LIBPATH" "$ROOT/usr/bin/qemu-system-x86_64" -L "$S/qemu" -L "$S/seabios" -L "$ROOT/usr/lib/ipxe/qemu" \
    -accel "$ACCEL" "${QARGS[@]}" -nodefaults -display none -no-reboot \
    -kernel "$KDIR/boot/vmlinuz-$KVER" -initrd "$WORK/initrd" -append "$APPEND" \
    -chardev "file,id=con,path=$OUTDIR/console.log" -serial chardev:con \
    -device virtio-serial-pci,bus=pcie.0,addr=3 \
    -chardev "file,id=out,path=$WORK/out.tar" -device virtserialport,chardev=out,name=out \
    -chardev "socket,id=mon,path=$WORK/mon,server=on,wait=off" -mon chardev=mon,mode=readline \
    -chardev "socket,id=ctl,path=$WORK/mon" -device virtserialport,chardev=ctl,name=monitor \
    </dev/null >"$OUTDIR/qemu.log" 2>&1 9>&- &
QPID=$!
wait $QPID && qrc=0 || qrc=$?
QPID=
end=$(date +%s.%N)
awk -v a="$start" -v b="$end" 'BEGIN{printf "wall_s %.1f\n", b-a}' >"$OUTDIR/timing"
grep -a '^vm: ' "$OUTDIR/console.log" | tr -d '\r' >>"$OUTDIR/timing" || true
tar -xf "$WORK/out.tar" -C "$OUTDIR" --no-same-owner 2>/dev/null || true
if [ -s "$OUTDIR/rc" ] && [ "$qrc" = 0 ]; then exit "$(cat "$OUTDIR/rc")"; fi
echo "run.sh: no result (qemu ended with $qrc); see $OUTDIR/console.log and qemu.log" >&2
exit 125
