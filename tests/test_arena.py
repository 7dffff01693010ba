"""The arena: its games are fixed, and every policy that fits can play."""

import re
from typing import Any

import arena_record
import pytest
from page_scripts import read

import fairlib as fl
from fairlib import arena
from fairlib.core.result import versions
from fairlib.engine.session import make_session
from fairlib.pages.playground import Playground

MADE = read(arena_record.ROOT)
GAMES: dict[str, Any] = dict(arena.v1)
ON_ARMS = [name for name in arena.v1 if isinstance(arena.v1[name], Playground)]


def fits(name, game, horizon=1000):
    """Say whether an entrant can play a game, without compiling anything."""
    try:
        make_session(game, arena.entrants[name](game, horizon), horizon, compiled=False)
    except (TypeError, ValueError, AttributeError):
        return False
    return True


def test_version_1_is_fixed():
    """Who changes a number makes another suite: give it another name."""
    assert repr(arena.v1) == "Suite('fairlib arena 1', 12 games, fingerprint f10bd8ddde82d6f4)"
    numbers = {name: arena.v1.numbers(name) for name in arena.v1}
    again = arena.Suite("again", {**numbers, "shares/easy": {**numbers["shares/easy"], "about": "Else."}})
    assert again.fingerprint == arena.v1.fingerprint
    numbers["shares/easy"]["means"] = [0.5, 0.9, 0.7, 0.6, 0.8, 0.41]
    assert arena.Suite("other", numbers).fingerprint != arena.v1.fingerprint


def test_in_version_2_those_play_who_ask_which_arms_are_there():
    assert repr(arena.v2) == "Suite('fairlib arena 2', 2 games, fingerprint 6491939924e91ee0)"
    shares, merit = ({name for name in arena.entrants if fits(name, game)} for game in arena.v2.values())
    assert shares & merit == {"uniform", "epsilon-greedy, 0.1", "UCB1", "Thompson sampling"}
    assert shares - merit == {"FAIR-UCB", "FAIR-LEARN, Thompson", "LFG, 100"}
    assert merit - shares == {
        *("plug-in", "FairX-EG, 0.05", "FairX-TS", "upper merit", "upper merit in doubt", "upper merit, kl")
    }


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


def test_the_record_is_of_this_suite_and_has_everybody_in_every_game_that_fits():
    assert MADE["fingerprint"] == arena.v1.fingerprint
    assert (MADE["runs"], MADE["seed"]) == (arena_record.RUNS, arena_record.SEED)
    found = {tuple(row[:4]) for row in MADE["rows"]}
    assert len(found) == len(MADE["rows"])
    for horizon in arena_record.HORIZONS:
        for name, game in arena.v1.items():
            measures = arena_record.ON_ARMS if name in ON_ARMS else arena_record.ELSEWHERE
            who = {each for each in arena.entrants if fits(each, game, horizon)}
            there = {row for row in found if row[:2] == (horizon, name)}
            assert there == {(horizon, name, measure, each) for measure in measures for each in who}


# A game of each kind, and policies that are quick to compile.
AGAIN = {
    "shares/hostile": ("FAIR-UCB", "uniform", "upper merit"),
    "exposure/contexts": ("FairX-LinEG, 0.05",),
    "delays/paper": ("CUCB-D",),
    "delays/hostile": ("UCB1", "FairX-EG, 0.05"),
    "ranks/hostile": ("Greedy",),
}


@pytest.mark.parametrize("game", AGAIN)
def test_what_is_stored_is_what_is_played(game):
    """Bit for bit on the versions of the record; with others the last digits of a sum may differ."""
    horizon = min(arena_record.HORIZONS)
    stored = {(row[2], row[3]): row[4:8] for row in MADE["rows"] if row[:2] == [horizon, game]}
    policies = {name: arena.entrants[name] for name in AGAIN[game]}
    found = fl.compare(policies, {game: arena.v1[game]}, horizon, runs=MADE["runs"], seed=MADE["seed"])
    again = {(row[2], row[3]): row[4:8] for row in arena_record.rows(found)}
    for cell, numbers in again.items():
        if MADE["versions"] == versions():
            assert numbers == stored[cell], cell
        assert numbers == pytest.approx(stored[cell], rel=1e-5)


def test_the_page_says_of_everybody_where_it_is_explained():
    page = (arena_record.ROOT / "chapters" / "arena.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| \{(?:prf:)?ref\}`[^`]+` \| ([^|]*)\|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == list(arena.entrants)
    assert all(
        (f"knows {arena.entrants[name].knows}" in said) == bool(arena.entrants[name].knows) for name, said in rows
    )
    assert f"here these are {arena_record.RUNS} and {arena_record.SEED}" in page
