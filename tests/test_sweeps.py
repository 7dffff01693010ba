"""Sweeps keep their order, wherever they run, and what is finished when they are interrupted."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from helpers import same

import fairlib as fl
from fairlib.shares import fair_learn, lfg


def end_of_game(gap, seed):
    game = fl.Bandit(fl.bernoulli([0.5 + gap, 0.5]))
    return fl.simulate(game, fl.ucb1(), 200, seed=seed).regret[0, -1]


SETTINGS = [{"gap": gap, "seed": seed} for gap in (0.1, 0.3) for seed in range(3)]


def test_the_same_here_and_elsewhere():
    here = fl.sweep(end_of_game, SETTINGS)
    assert here == [end_of_game(**setting) for setting in SETTINGS]
    with ThreadPoolExecutor(3) as pool:
        assert fl.sweep(end_of_game, SETTINGS, executor=pool) == here


def test_the_same_in_other_processes():
    bounds = [{"arms": arms, "horizon": 10**power} for arms in (2, 5) for power in (1, 3, 6)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert fl.sweep(fl.ucb1_worst_case_bound, bounds, executor=pool) == fl.sweep(fl.ucb1_worst_case_bound, bounds)


def test_games_and_policies_are_settings_like_any_other_in_other_processes_too():
    game = fl.Bandit(fl.bernoulli([0.9, 0.5]))
    policies = [fl.ucb1(), fair_learn(lfg([0.1, 0.1], 1.0), [0.1, 0.2])]
    settings = [
        {"problem": game, "policy": policy, "horizon": 200, "seed": seed} for policy in policies for seed in (0, 1)
    ]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = fl.sweep(fl.simulate, settings, executor=pool)
    assert all(same(one, other) for one, other in zip(fl.sweep(fl.simulate, settings), there, strict=True))


def test_an_interrupted_sweep_keeps_what_is_finished():
    def experiment(i):
        if i == 3:
            raise KeyboardInterrupt
        return i

    with pytest.warns(UserWarning, match="3 of 5 settings are finished"):
        assert fl.sweep(experiment, [{"i": i} for i in range(5)]) == [0, 1, 2, None, None]


def test_an_error_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        fl.sweep(lambda i: 1 / i, [{"i": 1}, {"i": 0}])


def test_the_bar_shows_only_when_it_is_asked_for(capsys):
    fl.sweep(int, [{}])
    assert capsys.readouterr().err == ""
    fl.sweep(int, [{}], progress=True)
    assert "1/1" in capsys.readouterr().err
