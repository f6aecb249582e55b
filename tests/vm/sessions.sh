#!/bin/dash
# Runs inside the test machine: makes bonds and VLANs over its igb and e1000e ports, and has each state recorded and scanned.
# Usage: sessions.sh (in the machine that run.sh starts; record.sh does both)
set -u
here=/payload

monitor() {
    echo "$1" >/dev/virtio-ports/monitor
    sleep "${2:-1}"
}

# What these sessions do not need would only make them longer.
for one in vio0 vmx0 rtl0 vio1 lom0 igb1; do
    device=$(readlink -f "/sys/class/net/$one/device")
    [ -e "$device/remove" ] || device=${device%/*}
    echo 1 >"$device/remove"
done

# Whoever asks the kernel for something that is in a module leaves a line here.
cat >/tmp/modprobe <<'END'
#!/bin/dash
echo "$*" >>/tmp/modules-asked-for
END
chmod 755 /tmp/modprobe
loader=$(cat /proc/sys/kernel/modprobe)
echo /tmp/modprobe >/proc/sys/kernel/modprobe
ip link add type of-no-module 2>/dev/null
[ -s /tmp/modules-asked-for ] || echo "requests for modules go unseen" >>/tmp/failures
echo "$loader" >/proc/sys/kernel/modprobe
rm -f /tmp/modules-asked-for

# record NAME ABOUT: two samples six seconds apart.
record() {
    RECORDING=$OUT/$1.json ABOUT="$2" INTERVAL=6000 \
        "$here/netdoctor-tests" --exact probe::tests::record::record_a_session --ignored >"$OUT/$1.log" 2>&1 ||
        echo "$1 was not recorded" >>/tmp/failures
}

# scan NAME: what root sees, what an ordinary user sees, and what the usual tools print.
scan() {
    "$here/netdoctor" scan >"$OUT/$1.txt" 2>&1
    su user -s /bin/sh -c "$here/netdoctor scan" >"$OUT/$1.user.txt" 2>&1
    {
        ip -d -s link
        cat /proc/net/bonding/bond0
        for port in igb0 e1000e0; do
            for question in "" -i -g -l -c -a; do ethtool $question $port; done
            grep . /sys/class/net/$port/carrier_*
        done
    } >"$OUT/$1.tools.txt" 2>&1
}

# fall PORT: its link goes for a second and comes back.
fall() {
    monitor "set_link $1 off" 1
    monitor "set_link $1 on" 0
}

machine="QEMU machine of tests/vm (82576 and 82574), Linux 6.12 of Debian, read as root with two samples 6 s apart."

ip link add bond0 type bond mode active-backup miimon 100
ip link set igb0 master bond0
ip link set e1000e0 master bond0
ip link set bond0 up
ip link add link bond0 name bond0.100 type vlan id 100
ip link set bond0.100 up
ip address add 198.51.100.1/24 dev bond0.100
ip route add default via 198.51.100.9 dev bond0.100
sleep 4
echo /tmp/modprobe >/proc/sys/kernel/modprobe
scan bond-whole
record bond-flap "$machine An active-backup bond with a VLAN; the link of igb0 falls and comes back between the samples." &
sleep 4
fall igb0
wait
sleep 2
"$here/netdoctor" scan --during 6s >"$OUT/bond-flap.txt" 2>&1 &
sleep 3
fall igb0
wait
sleep 2

echo "$loader" >/proc/sys/kernel/modprobe
ip link del bond0.100
ip link del bond0
ip link add bond0 type bond mode 802.3ad miimon 100 lacp_rate fast xmit_hash_policy layer3+4
ip link set igb0 master bond0
ip link set e1000e0 master bond0
ip link set bond0 mtu 9000
ip link set igb0 mtu 1500
ip link set bond0 up
ip link add link bond0 name bond0.100 type vlan id 100
ip link set bond0.100 up
monitor "set_link e1000e0 off" 4
echo /tmp/modprobe >/proc/sys/kernel/modprobe
record bond-member-down "$machine An 802.3ad bond of MTU 9000 without a partner, with a VLAN: igb0 has MTU 1500, e1000e0 no link."
scan bond-member-down
ethtool -K igb0 gro off
"$here/netdoctor" scan >"$OUT/gro-off.txt" 2>&1
grep -q "1 hygiene note" "$OUT/gro-off.txt" || echo "GRO that is off went unseen" >>/tmp/failures

sed 's/^/a module was asked for: /' /tmp/modules-asked-for >>/tmp/failures 2>/dev/null
if [ -s /tmp/failures ]; then
    cat /tmp/failures >&2
    exit 1
fi
