"""A small real Slurm on one machine: munged, slurmctld and some slurmd in a temporary folder.

Needs Debian's or Ubuntu's munge, slurmctld, slurmd and slurm-client, and no root. Nothing outside the folder
is written, and the machine's own Slurm, if it has one, is not touched. Each node has two CPUs and two GPUs
that are /dev/null under another name: enough for Slurm to hand out CUDA_VISIBLE_DEVICES.
"""

import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo", "scancel"]
PR_SET_CHILD_SUBREAPER = 36

# cred_expire and SlurmdTimeout are short so that a lost node's tasks start elsewhere soon: Slurm waits for
# the latter until it gives the node up, and for the former until it starts the task again.
CONF = """
ClusterName=small
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge/socket,cred_expire=5
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/%n.spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=2
MinJobAge=3600
KillWait=5
MessageTimeout=5
TCPTimeout=2
SlurmdTimeout=9
SlurmctldTimeout=30
DefMemPerCPU=200
GresTypes=gpu
"""


class NotStarted(Exception):
    """Slurm is installed, but does not start here."""


def missing():
    """The programs that are not installed."""
    return [name for name in PROGRAMS if not find(name)]


def find(program):
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")


def wait_until(what, condition, seconds=90):
    """Polls until `condition()` is true, and returns what it returned."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.1)
    return result


def free_ports(count):
    """Ports that are free now: all are held open until the last is known."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class SmallSlurm:
    """`with SmallSlurm(folder) as slurm:` starts it, and at the end stops all that it and its jobs started."""

    def __init__(self, folder, nodes=3):
        self.dir = Path(folder)
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        self.daemons = {}
        self.env = dict(os.environ, SLURM_CONF=str(self.dir / "slurm.conf"))
        # Else options of the user's own shell would reach the jobs.
        for name in list(self.env):
            if name.startswith(("SBATCH_", "SQUEUE_", "SLURM_")) and name != "SLURM_CONF":
                del self.env[name]

    def __enter__(self):
        # A daemon's steps outlive it on purpose; they then become children of this process, which can
        # end them, and no other process's, by their ids.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            self._configure()
            self._start()
        except (OSError, TimeoutError) as error:
            logs = self.logs()
            self.stop()
            raise NotStarted(f"{error}\n{logs}") from error
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def _configure(self):
        # munge wants its socket to be reachable for all.
        self.dir.chmod(0o711)
        munge = self.dir / "munge"
        munge.mkdir(mode=0o711)
        munge.chmod(0o711)
        key = munge / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        (self.dir / "state").mkdir()
        # A regular file would count as a GPU, but no CUDA_VISIBLE_DEVICES would be set.
        for gpu in range(2):
            (self.dir / f"gpu{gpu}").symlink_to("/dev/null")
        host = socket.gethostname().split(".")[0]
        ports = free_ports(1 + len(self.nodes))
        conf = CONF.format(host=host, ports=ports, user=getpass.getuser(), dir=self.dir)
        for node, port in zip(self.nodes, ports[1:]):
            (self.dir / f"{node}.spool").mkdir()
            conf += f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port}"
            conf += " CPUs=2 RealMemory=2000 Gres=gpu:2 State=UNKNOWN\n"
        conf += f"PartitionName=all Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n"
        (self.dir / "slurm.conf").write_text(conf)
        (self.dir / "gres.conf").write_text(f"Name=gpu File={self.dir}/gpu[0-1]\n")

    def _start(self):
        munge = self.dir / "munge"
        self.start_daemon("munged", "--foreground", f"--socket={munge}/socket", f"--key-file={munge}/key",
                          f"--pid-file={munge}/pid", f"--seed-file={munge}/seed", "--num-threads=2")
        wait_until("munged", (munge / "socket").exists, 10)
        self.start_daemon("slurmctld", "-D")
        for node in self.nodes:
            self.start_daemon("slurmd", "-D", "-N", node, name=node)
        wait_until("all nodes", lambda: self.idle() == len(self.nodes), 60)

    def start_daemon(self, program, *arguments, name=None):
        name = name or program
        with open(self.dir / f"{name}.out", "ab") as out:
            self.daemons[name] = subprocess.Popen([find(program), *arguments], env=self.env,
                                                  stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def idle(self):
        """How many nodes wait for work."""
        found = subprocess.run(["sinfo", "-hNt", "idle", "-o", "%N"], env=self.env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return len(set(found.stdout.split()))

    def run(self, *command, **options):
        """Runs a command that must succeed, in the cluster's environment; gives its stdout."""
        done = subprocess.run([str(word) for word in command], env=self.env, text=True,
                              stdout=subprocess.PIPE, **options)
        if done.returncode:
            raise RuntimeError(f"{command} ended with {done.returncode}")
        return done.stdout

    def tasks(self, job):
        """The state of each task of an array, or of a job as task None, as Slurm last knew it."""
        states = {}
        for line in self.run("squeue", "-h", "-r", "-t", "all", "-j", job, "-o", "%i %T").splitlines():
            name, state = line.split()
            states[int(name.split("_")[1]) if "_" in name else None] = state
        return states

    def ended(self, job):
        """The tasks' states when none is left to run, else None."""
        open_states = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED", "SUSPENDED"}
        states = self.tasks(job)
        return None if open_states & set(states.values()) else states

    def lose_node(self, node):
        """The daemon of a node dies; what runs there goes on unseen, as behind a broken network."""
        self.daemons[node].kill()
        self.daemons[node].wait()

    def state_of(self, node):
        return self.run("sinfo", "-hN", "-n", node, "-o", "%T").split()[0]

    def logs(self):
        """The last lines of every daemon, for a failure's message."""
        text = ""
        for path in sorted(self.dir.glob("*.out")):
            lines = path.read_text(errors="replace").splitlines()[-15:]
            text += "".join(f"{path.name}: {line}\n" for line in lines)
        return text

    def stop(self):
        if "slurmctld" in self.daemons and self.daemons["slurmctld"].poll() is None:
            subprocess.run(["scancel", "-u", getpass.getuser()], env=self.env, stderr=subprocess.DEVNULL)
        for daemon in reversed(self.daemons.values()):
            if daemon.poll() is None:
                daemon.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        while children := descendants(os.getpid()):
            for pid in children:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            while True:
                try:
                    if os.waitpid(-1, os.WNOHANG)[0] == 0:
                        break
                except ChildProcessError:
                    break
            time.sleep(0.05)


def descendants(root):
    """The ids of all processes below one, those that ended but were not waited for included."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            # The name stands in brackets and may hold anything; the parent is the second word behind.
            parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    found, grown = {root}, True
    while grown:
        below = {pid for pid, parent in parents.items() if parent in found} - found
        found |= below
        grown = bool(below)
    return found - {root}
