"""Other projects' code, and the authors' own, against ours on the same game for the same number of rounds."""

from functools import partial
from typing import Any

import pytest
import zoo
from effort import Effort
from games import setting
from peers import DELAYED, PEERS, RANKED
from turns import Rival, Turn, enough, play, take_turns

ROUNDS = 1000  # a round of some peers costs more the later it is, so that the number is part of what is measured
AUTHORS = [("FairCMAB-Delays", each) for each in DELAYED] + [("GMFbandits", each) for each in RANKED]


@pytest.fixture(scope="module")
def offers(peers: Rival | None) -> dict[tuple[str, str], tuple[str, str]]:
    """Ask the peers what they can play: the version, and what went wrong."""
    answers = peers.ask() if peers else []
    return {(package, policy): (version, fault) for package, version, policy, fault in answers}


@pytest.mark.benchmark(group="peers")
@pytest.mark.parametrize(("package", "policy"), [*PEERS, *AUTHORS])
def test_peer(package: str, policy: str, benchmark: Any, peers: Rival | None, offers: Any, effort: Effort) -> None:
    """Ours plays as many runs of the same length as make a turn."""
    theirs = (package, policy) in AUTHORS
    rounds = 100 if effort.tiny else 500 if package == "GMFbandits" else ROUNDS
    if theirs:
        game = zoo.game({"FairCMAB-Delays": "geometric", "GMFbandits": "section 6"}[package])
        ours = game, zoo.ZOO[policy].make(game)
    else:
        ours = setting(policy)
    play(*ours, 3)
    runs = max(1, round(enough(*ours, effort.turn) / rounds))
    version, fault = offers.get((package, policy), ("", "not measured in this run"))
    others: dict[str, Turn] = {}
    if not fault:
        assert peers
        others["theirs"] = partial(peers.ask, package=package, policy=policy, rounds=rounds)
    take_turns(benchmark, partial(play, *ours, rounds, runs), others, effort.turns)
    benchmark.extra_info |= {"package": package, "version": version, "policy": policy, "fault": fault}
    benchmark.extra_info |= {"rounds": rounds, "runs": runs, "authors": theirs}
