#!/bin/sh
# A batch system of one's own: munged, slurmctld and slurmd on this machine, on free loopback ports, with their own
# configuration, key and state in a folder. Called by sweep_slurm_spec.lua; touches nothing of a system's own Slurm.
#   slurm.sh start FOLDER    writes FOLDER/slurm.conf, starts the three, waits until the node is idle
#   slurm.sh stop FOLDER     ends the processes that it started
set -eu
folder=$2
conf=$folder/slurm.conf
PATH=$PATH:/usr/sbin:/sbin

stop() {
  for signal in TERM KILL; do
    for name in slurmd slurmctld munged; do
      [ -f "$folder/$name.pid" ] && kill -s $signal "$(cat "$folder/$name.pid")" 2>/dev/null || true
    done
    [ $signal = KILL ] || sleep 0.5 # slurmctld takes its time to save what nobody needs
  done
  rm -f "$folder"/*.pid
}

run() { # name, command: in the background, its process id kept
  name=$1
  shift
  "$@" >"$folder/$name.log" 2>&1 &
  echo $! >"$folder/$name.pid"
}

start() {
  chmod 755 "$folder"
  mkdir -p "$folder/munge" "$folder/state" "$folder/spool"
  chmod 755 "$folder/munge" # everybody may come to the socket
  (umask 077 && head -c 128 /dev/urandom >"$folder/munge/key")
  ports=$(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])')
  user=$(id -un)
  cat >"$conf" <<END
ClusterName=lgelutest
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/state/slurmctld.pid
SlurmdPidFile=$folder/state/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
KillWait=1
NodeName=lgelunode NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  echo 'IgnoreSystemd=yes' >"$folder/cgroup.conf"
  run munged munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
  for _ in $(seq 50); do
    [ -S "$folder/munge/socket" ] && break
    sleep 0.1
  done
  run slurmctld slurmctld -D -i -f "$conf"
  run slurmd slurmd -D -f "$conf" -N lgelunode
  for _ in $(seq 150); do
    case $(SLURM_CONF=$conf sinfo -h -o %T 2>/dev/null) in
      idle*) return 0 ;;
    esac
    sleep 0.1
  done
  echo "slurm.sh: the node did not become idle" >&2
  tail -n 20 "$folder"/*.log >&2
  stop
  return 1
}

"$1"
