"""Hosts that meet, hear each other, and notice when one is gone; here they are threads of one."""

import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.waiting import wait_for
from zsnmt.errors import InputError, PassingError
from zsnmt.training import hosts
from zsnmt.training.connections import Line, Lost
from zsnmt.training.fairseq_train import follow
from zsnmt.training.hosts import Refused, free_port, interface_of, key_file, meet, reach, say_over
from zsnmt.training.ranks import Ranks, Work
from zsnmt.training.team import Team

SOON = 10  # seconds


@pytest.fixture
def team(monkeypatch) -> Team:
    monkeypatch.setattr(hosts, "PATIENCE", SOON)
    return Team(2, gpus=False, hosts=3, meet=f"127.0.0.1:{free_port('127.0.0.1')}")


@pytest.fixture
def pair() -> tuple[Line, Line]:
    """Both ends of a line: that of host 0 to host 1, and that of host 1."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = socket.create_connection(server.getsockname())
        return Line(server.accept()[0], 1), Line(there, 0)


@pytest.mark.slow
def test_hosts_meet_in_their_order_and_strangers_do_not_hold_them_up(team, tmp_path, monkeypatch):
    monkeypatch.setattr(hosts, "HANDSHAKE", 1)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(meet, team, tmp_path)
        wait_for(key_file(team, tmp_path).exists, SOON)
        assert key_file(team, tmp_path).stat().st_mode & 0o077 == 0
        with socket.create_connection(team.address):  # says nothing
            second, third = (pool.submit(reach, replace(team, host=number), tmp_path) for number in (2, 1))
            lines = first.result(SOON)
    assert [line.number for line in lines] == [1, 2] and not [*tmp_path.iterdir()]
    lines[1].send(folder="runs")
    assert second.result().receive(SOON) == {"folder": "runs"}
    assert third.result().receive(0) is None
    assert interface_of(lines[0].here) == "lo"


def test_a_name_that_stands_for_the_first_host_alone_is_refused(team, tmp_path, monkeypatch):
    bound, server = f"name:{team.address[1]}", socket.create_server
    monkeypatch.setattr(hosts.socket, "create_server", lambda address: server(("127.0.1.1", address[1])))
    with pytest.raises(InputError, match="name is 127.0.1.1 here, where no other host comes, as /etc/hosts"):
        meet(replace(team, meet=bound), tmp_path)
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_host_with_another_command_is_refused_and_one_that_is_missing_is_named(team, tmp_path, monkeypatch):
    monkeypatch.setattr(hosts, "PATIENCE", 3)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(meet, team, tmp_path)
        wait_for(key_file(team, tmp_path).exists, SOON)
        other = pool.submit(reach, replace(team, host=1, processes=3), tmp_path)
        with pytest.raises(Refused, match="it starts 3 processes as one of 3 hosts, and the first host 2 as"):
            other.result(SOON)
        with pytest.raises(InputError, match="host 1, 2 has not come to 127.0.0.1:.* within"):
            first.result(SOON)


def test_a_host_that_ended_while_all_met_may_come_again_and_no_other_in_its_place(team, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(meet, team, tmp_path)
        wait_for(key_file(team, tmp_path).exists, SOON)
        ended = reach(replace(team, host=1), tmp_path)
        with pytest.raises(Refused, match="host 1 is there already"):
            reach(replace(team, host=1), tmp_path)
        ended.connection.close()
        again, other = (reach(replace(team, host=number), tmp_path) for number in (1, 2))
        lines = first.result(SOON)
    assert [line.number for line in lines] == [1, 2]
    for line, end in zip(lines, (again, other)):
        line.send(folder="runs")
        assert end.receive(SOON) == {"folder": "runs"}


def test_a_host_that_shares_no_folder_finds_no_first_one(team, tmp_path, monkeypatch):
    monkeypatch.setattr(hosts, "PATIENCE", 0.1)
    with pytest.raises(InputError, match="there is no first host at .* or it does not share"):
        reach(replace(team, host=1), tmp_path)


def ranks(folder: Path, line: Line, team: Team, *scripts: str) -> Ranks:
    """Processes of this host that run scripts of Python."""
    work = Work(folder, [], "")
    begun = {
        rank: subprocess.Popen([sys.executable, "-S", "-c", script], stderr=work.log(rank).open("wb"))
        for rank, script in zip(team.ranks(), scripts)
    }
    return Ranks(begun, work, team, lines=[line])


def ending(begun: Ranks) -> int:
    """The status of processes, which must end soon; those that do not are ended."""
    end = time.monotonic() + SOON
    while (status := begun.poll()) is None:
        assert time.monotonic() < end, "it hangs"
        time.sleep(0.01)
    for process in begun.processes.values():
        process.kill()
        process.wait()
    return status


SLEEP, ECHO = "import time; time.sleep(60)", "raise RuntimeError('Connection closed by peer')"


@pytest.mark.slow
@pytest.mark.parametrize(
    "scripts, fault, passes",
    [
        (["import os; os.kill(os.getpid(), 9)", ECHO], "process 0 of 4 was ended by SIGKILL, as", True),
        ([ECHO, "raise MemoryError('too large')"], "MemoryError: too large", False),
        (
            [ECHO, "raise RuntimeError('CUDA error: uncorrectable ECC error encountered')"],
            "RuntimeError: CUDA error: uncorrectable ECC",
            True,
        ),
        ([SLEEP, "raise SystemExit(3)"], "process 1 of 4 ended with status 3", False),
        ([SLEEP, "raise SystemExit(143)"], "process 1 of 4 was told to end, by SIGTERM", True),
        ([ECHO, SLEEP], "RuntimeError: Connection closed by peer", True),
    ],
)
def test_all_end_with_one_and_the_first_fault_is_told(pair, tmp_path, scripts, fault, passes):
    begun = ranks(tmp_path, pair[0], Team(2, gpus=False, hosts=2, meet="here:1"), *scripts)
    status = ending(begun)
    first = "RuntimeError: Connection closed by peer" if scripts[0] == ECHO else ""
    assert status != 0 and str(begun.fault(first)).startswith(fault)
    assert isinstance(begun.fault(first), PassingError) == passes


@pytest.mark.slow
def test_a_host_that_fails_or_is_gone_ends_all(pair, tmp_path):
    team = Team(1, gpus=False, hosts=2, meet="here:1")
    here, there = pair
    for passes, kind in ((False, InputError), (True, PassingError)):
        there.send(failed="process 1 of 2 ended", passes=passes)
        begun = ranks(tmp_path, here, team, SLEEP)
        assert ending(begun) != 0
        assert str(begun.fault()) == "host 1 (127.0.0.1): process 1 of 2 ended"
        assert type(begun.fault()) is kind
    there.connection.close()
    begun = ranks(tmp_path, here, team, SLEEP)
    assert ending(begun) != 0
    assert str(begun.fault()) == "host 1 (127.0.0.1) has ended, or cannot be reached any more"
    with pytest.raises(Lost):
        [here.send(folder="runs") for _ in range(3)]


def test_a_host_has_done_its_part_when_the_first_says_so_and_not_when_that_is_gone(pair):
    first, other = pair
    team = Team(1, gpus=False, hosts=2, host=1, meet="127.0.0.1:1")
    say_over([first])
    follow(team, other, pytest.fail)
    first.connection.close()
    with pytest.raises(Lost, match="host 0 .* has ended, or cannot be reached any more"):
        follow(team, other, pytest.fail)
    other.connection.close()
    say_over([other])  # to one that is gone


def test_a_training_has_ended_when_all_hosts_say_so(pair, tmp_path):
    here, there = pair
    begun = ranks(tmp_path, here, Team(1, gpus=False, hosts=2, meet="here:1"), "pass")
    begun.processes[0].wait()
    assert begun.poll() is None
    there.send(done=True)
    assert ending(begun) == 0
