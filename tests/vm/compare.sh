#!/bin/bash
# Runs inside the test machine: makes interfaces of many kinds over its ports, and has them told by a scan and by the usual
# tools at the same moment. Usage, with a stripped netdoctor in FOLDER:
#   tests/vm/run.sh -t 900 -a FOLDER/netdoctor -a tests/it/live-capture:/payload/tools tests/vm/compare.sh OUTDIR
#   NETDOCTOR_COMPARE=OUTDIR cargo test --test it real_drivers
cd "$OUT" || exit 1

ip link add bond0 type bond mode 802.3ad miimon 100 lacp_rate fast xmit_hash_policy layer3+4
for port in igb0 e1000e0; do ip link set "$port" master bond0; done
ip link add bond1 type bond mode active-backup miimon 100
for port in vmx0 igb1; do ip link set "$port" master bond1; done
ip link set bond0 up
ip link set bond1 up
ip link add link bond1 name bond1.100 type vlan id 100
ip link add link bond1.100 name inner type vlan id 7
ip link set bond1.100 up
ip link set inner up
ip address add 198.51.100.1/24 dev bond1.100
ip route add default via 198.51.100.9 dev bond1.100
ip link add br0 type bridge vlan_filtering 1
ip link add va type veth peer name vb
ip link set va master br0
ip link add dum0 type dummy
ip link add vx0 type vxlan id 42 local 198.51.100.1 remote 198.51.100.9 dstport 4789 dev bond1.100
ip link add gnv0 type geneve id 7 remote 198.51.100.9
ip link add gre1 type gre local 198.51.100.1 remote 198.51.100.9 ttl 64
ip link add ipip1 type ipip local 198.51.100.1 remote 198.51.100.9
ip link add sit1 type sit local 198.51.100.1 remote 198.51.100.9
ip link add vrf0 type vrf table 100
ip link add wg0 type wireguard
ip link add team0 type team
ip link add link rtl0 name mv0 type macvlan mode bridge
ip link add link rtl0 name ipv0 type ipvlan mode l2
ip link add ifb0 type ifb
ip tuntap add dev tun0 mode tun
ip tuntap add dev tap0 mode tap multi_queue
for one in va vb br0 dum0 vx0 gnv0 gre1 vrf0 wg0 vio0 vio1 rtl0 lom0 lo; do ip link set "$one" up; done
ip link set dum0 master vrf0
ip address add 192.0.2.5/24 dev vio1
ip address add 2001:db8::5/64 dev vio1 nodad
tc qdisc add dev vio1 root handle 1: netem delay 1ms limit 500
tc qdisc add dev dum0 root handle 2: cake bandwidth 100mbit
tc qdisc add dev rtl0 root fq
tc qdisc add dev va root handle 3: htb default 10
tc class add dev va parent 3: classid 3:10 htb rate 10mbit ceil 20mbit
tc qdisc add dev va parent 3:10 fq_codel
ethtool -K igb0 gro off
ethtool -G igb1 rx 1024
ethtool -C igb1 rx-usecs 30
ip route add 203.0.113.0/24 via 192.0.2.9 dev vio1 mtu 1400
ip route add 203.0.112.0/24 via 192.0.2.9 dev vio1 table 100
ip -6 route add default via 2001:db8::9 dev vio1
ip rule add from 192.0.2.5 lookup 100
ip rule add not from 10.0.0.0/8 fwmark 0x7/0xff lookup 100
ip neigh add 192.0.2.77 lladdr 02:00:00:00:00:07 dev vio1
sleep 4

scan() { /payload/netdoctor scan --interval 0 --snapshot >"$1.json"; }

# tools LIST: each command below the line that asked for it.
tools() {
    local line one
    while read -r line; do
        case $line in
            *IFACE*) for one in /sys/class/net/*; do say "${line/IFACE/${one##*/}}"; done ;;
            *) say "$line" ;;
        esac
    done <"/payload/tools/$1.txt" >"$1.txt"
}
say() {
    echo "\$ $1"
    eval "$1" </dev/null 2>&1
}

scan before
tools text
scan between
tools json
scan after
