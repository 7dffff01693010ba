"""The arena: its games are fixed, and everybody who fits can play."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import fairlib as fl
from fairlib import arena
from fairlib.book.playground import Playground, PlaygroundResult
from fairlib.core.result import Result
from fairlib.engine.stepping import make_session
from fairlib.exposure import ContextExposureBandit
from fairlib.ranks import RankBandit

GAMES: dict[str, Any] = dict(arena.v1)
ON_ARMS = [name for name in arena.v1 if isinstance(arena.v1[name], Playground)]


def fits(name, game, horizon=1000):
    """Say whether an entrant can play a game, without compiling anything."""
    try:
        make_session(game, arena.entrants[name](game, horizon), compiled=False)
    except (TypeError, ValueError, AttributeError):
        return False
    return True


def test_version_1_is_fixed():
    """Who changes a number makes another suite: give it another name."""
    assert repr(arena.v1) == "Suite('fairlib arena 1', 12 games, fingerprint f10bd8ddde82d6f4)"
    numbers = {name: dict(each) for name, each in arena.v1._numbers.items()}
    again = arena.Suite("again", {**numbers, "shares/easy": {**numbers["shares/easy"], "about": "Else."}})
    assert again.fingerprint == arena.v1.fingerprint
    numbers["shares/easy"]["means"] = [0.5, 0.9, 0.7, 0.6, 0.8, 0.41]
    assert arena.Suite("other", numbers).fingerprint != arena.v1.fingerprint


def test_games_on_arms_have_every_notion_of_fairness_and_the_best_arm_is_not_the_first():
    assert len(ON_ARMS) == 8
    measured = {each.name for each in fields(PlaygroundResult)} - {each.name for each in fields(Result)}
    assert measured == {
        *("r_regret", "violation", "deficit"),
        *("reward_regret", "signed_regret", "fairness_regret", "optimal"),
    }
    for name in ON_ARMS:
        means = GAMES[name].arms.means
        assert means[0] < means.max(), name
        assert np.unique(means).size > 1


def test_each_paper_has_an_easy_game_its_own_and_a_hostile_one():
    kinds = {"shares": Playground, "exposure": Playground, "delays": Playground, "ranks": RankBandit}
    for name, game in arena.v1.items():
        assert isinstance(game, ContextExposureBandit if name == "exposure/contexts" else kinds[name.split("/")[0]])
        assert arena.v1.about(name).endswith(".")
    assert all(arena.v1[name] is arena.v1[name] for name in arena.v1)


@pytest.mark.parametrize("name", arena.entrants)
def test_each_entrant_fits_the_games_that_it_is_for(name):
    fitting = {game for game in arena.v1 if fits(name, arena.v1[game])}
    several = {game for game in ON_ARMS if GAMES[game].plays > 1}
    with_contexts = set(arena.v1) - set(ON_ARMS)
    assert fitting in (
        set(ON_ARMS),
        set(ON_ARMS) - several,
        with_contexts,
        {"exposure/contexts"},
        {name for name in with_contexts if name.startswith("ranks")},
    )
    assert fits(name, arena.v1[min(fitting)], 100)


def test_a_policy_that_is_told_something_is_marked():
    assert {name for name, each in arena.entrants.items() if each.told} == {"GMF", "reward-optimal", "oracle CDF"}


def test_a_reader_s_rule_plays_beside_the_others():
    def last(seen, p):
        return p.size - 1

    policies: dict[str, Any] = {each: arena.entrants[each] for each in ("uniform", "UCB1", "GMF")}
    games = {each: arena.v1[each] for each in ("shares/easy", "delays/paper")}
    found = fl.compare({**policies, "mine": fl.Policy("mine", last)}, games, 100, runs=20)
    assert {name for game, name in found.results if game == "shares/easy"} == {"uniform", "UCB1", "mine"}
    assert {name for game, name in found.results if game == "delays/paper"} == {"uniform"}
    assert found.values("shares/easy", "deficit")["mine"].tolist() == [pytest.approx(10.0)] * 20
    assert found.values("shares/easy", "regret")["mine"].tolist() == [pytest.approx(50.0)] * 20
