"""Trials of UCB1's bounds."""

from collections.abc import Callable

import fairlib as fl
from bound_trials.cases import Case, Line, always, case, in_words, means, played


def of_ucb1(worst: bool) -> Callable[[int], Case]:
    def make(i: int) -> Case:
        # The sharp end: a sure thing for what depends on the gaps, a gap that is hard to tell for what doesn't.
        mu = means(i, (0.6, 0.4) if worst else (1.0, 0.0))
        game = fl.Bandit(fl.bernoulli(mu))
        gap = mu.max() - mu.min()
        return case(
            f"means {in_words(mu)}",
            lambda t: fl.ucb1_worst_case_bound(mu.size, t) if worst else fl.ucb1_bound(game, t),
            lambda t: gap * t,
            lambda runs, rounds: played(game, fl.ucb1(), "regret", runs, rounds, i),
            lambda rounds: played(game, always(mu.argmin(), mu.size), "regret", 2, rounds),
            first=10_000,
        )

    return make


LINES: dict[str, Line] = {
    "ucb1_bound": Line("fm-thm-6", "UCB1", of_ucb1(worst=False)),
    "ucb1_worst_case_bound": Line("fm-thm-7", "UCB1", of_ucb1(worst=True)),
}
