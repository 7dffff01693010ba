"""The entrants of the arena: every algorithm of the book, with the settings of its theorem and with usual ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fairlib import after, delays, exposure, ranks, shares
from fairlib.baselines import classic, linear
from fairlib.core.contexts import ContextPolicy
from fairlib.core.policy import Policy

__all__ = ["Entrant", "entrants"]


@dataclass(frozen=True)
class Entrant:
    """An algorithm with its settings.

    Parameters
    ----------
    make : callable
        Returns the policy for a game and a horizon; it raises an error where the policy does not fit.
    knows : str
        What the policy knows that the others have to learn; empty if nothing.
    as_proved : bool
        Whether the settings are those of a theorem.

    Examples
    --------
    >>> from fairlib.arena import v1
    >>> entrants["FAIR-UCB"](v1["shares/easy"], 1000).name
    'FAIR-UCB'
    """

    make: Callable[[Any, int], Policy | ContextPolicy]
    knows: str = ""
    as_proved: bool = False

    def __call__(self, game: Any, horizon: int) -> Policy | ContextPolicy:
        """Return the policy for a game and a horizon."""
        return self.make(game, horizon)


def _size(game: Any) -> int:
    return int(game.arms.means.size)


def _learner(game: Any) -> Policy:
    return classic.ucb1() if game.plays == 1 else delays.cucb_d(game.plays)


entrants: Mapping[str, Entrant] = MappingProxyType(
    {
        # Reward alone
        "uniform": Entrant(lambda game, horizon: classic.uniform(game.plays)),
        "epsilon-greedy, 0.1": Entrant(lambda game, horizon: classic.epsilon_greedy(0.1)),
        "UCB1": Entrant(lambda game, horizon: classic.ucb1(), as_proved=True),
        "Thompson sampling": Entrant(lambda game, horizon: classic.thompson_beta()),
        "CUCB-D": Entrant(lambda game, horizon: delays.cucb_d(game.plays)),
        "MP-TS-D": Entrant(lambda game, horizon: delays.mp_ts_d(game.plays)),
        # Shares
        "FAIR-UCB": Entrant(lambda game, horizon: shares.fair_ucb(game.shares), as_proved=True),
        "T-FAIR-UCB": Entrant(lambda game, horizon: shares.t_fair_ucb(game.shares, horizon), as_proved=True),
        "FAIR-LEARN, Thompson": Entrant(
            lambda game, horizon: shares.fair_learn(classic.thompson_beta(), game.shares), as_proved=True
        ),
        "by deadline, UCB1": Entrant(
            lambda game, horizon: shares.fair_by_deadline(classic.ucb1(), game.shares), as_proved=True
        ),
        "in windows, UCB1": Entrant(
            lambda game, horizon: shares.fair_in_windows(classic.ucb1(), game.shares), as_proved=True
        ),
        "LFG, 100": Entrant(lambda game, horizon: shares.lfg(game.shares, eta=100)),
        "FAIR-LEARN with plays": Entrant(
            lambda game, horizon: after.fair_learn_plays(_learner(game), game.shares), as_proved=True
        ),
        # Exposure
        "plug-in": Entrant(lambda game, horizon: exposure.fairx_eg(game.merit, 0)),
        "FairX-EG, 0.05": Entrant(lambda game, horizon: exposure.fairx_eg(game.merit, 0.05)),
        "FairX-UCB": Entrant(
            lambda game, horizon: exposure.fairx_ucb(
                game.merit, float(exposure.fairx_ucb_width(_size(game), horizon, failure=0.1))
            ),
            as_proved=True,
        ),
        "FairX-UCB, 0.5": Entrant(lambda game, horizon: exposure.fairx_ucb(game.merit, 0.5)),
        "FairX-TS": Entrant(lambda game, horizon: exposure.fairx_ts(game.merit)),
        "upper merit": Entrant(
            lambda game, horizon: exposure.upper_merit(game.merit, plays=game.plays), as_proved=True
        ),
        "upper merit in doubt": Entrant(
            lambda game, horizon: exposure.upper_merit(game.merit, plays=game.plays, factor=2), as_proved=True
        ),
        "upper merit, kl": Entrant(
            lambda game, horizon: exposure.upper_merit_kl(game.merit, _size(game), horizon), as_proved=True
        ),
        # Delays
        "FCUCB-D": Entrant(lambda game, horizon: delays.fcucb_d(game.merit, _size(game), game.plays), as_proved=True),
        "FCUCB-D, narrow": Entrant(
            lambda game, horizon: delays.fcucb_d(game.merit, _size(game), game.plays, (0.0, 0.25))
        ),
        "FCTS-D": Entrant(lambda game, horizon: delays.fcts_d(game.merit, _size(game), game.plays), as_proved=True),
        "OP-FCUCB-D": Entrant(
            lambda game, horizon: delays.op_fcucb_d(game.merit, _size(game), game.plays), as_proved=True
        ),
        "OP-FCTS-D": Entrant(lambda game, horizon: delays.op_fcts_d(game.merit, _size(game), game.plays)),
        "FGreedy-D, 0.05": Entrant(lambda game, horizon: delays.fgreedy_d(game.merit, _size(game), game.plays, 0.05)),
        "Two-box": Entrant(
            lambda game, horizon: delays.two_box(game.merit, _size(game), game.plays, horizon), as_proved=True
        ),
        "recent half": Entrant(
            lambda game, horizon: delays.recent_half(game.merit, _size(game), game.plays), as_proved=True
        ),
        "upper merit, delayed": Entrant(
            lambda game, horizon: delays.upper_merit_delayed(game.merit, _size(game), game.plays), as_proved=True
        ),
        # What came after
        "chaining": Entrant(lambda game, horizon: after.chaining(0.05), as_proved=True),
        "NCB": Entrant(lambda game, horizon: after.ncb(horizon), as_proved=True),
        # Contexts
        "at random": Entrant(lambda game, horizon: linear.at_random()),
        "Greedy": Entrant(lambda game, horizon: linear.greedy()),
        "LinUCB, 0.5": Entrant(lambda game, horizon: linear.linucb(radius=0.5)),
        "LinTS": Entrant(lambda game, horizon: linear.lints()),
        "FairX-LinUCB, 0.5": Entrant(lambda game, horizon: exposure.fairx_linucb(game.merit, radius=0.5)),
        "FairX-LinTS": Entrant(lambda game, horizon: exposure.fairx_lints(game.merit)),
        "FairX-LinEG, 0.05": Entrant(lambda game, horizon: exposure.fairx_lineg(game.merit, 0.05)),
        "upper merit, linear, 0.5": Entrant(lambda game, horizon: exposure.upper_merit_linear(game.merit, radius=0.5)),
        # Ranks
        "OFUL as published": Entrant(lambda game, horizon: ranks.oful_as_published()),
        "Fair-Greedy, rarely": Entrant(lambda game, horizon: ranks.fair_greedy_rarely()),
        "GMF": Entrant(lambda game, horizon: ranks.gmf(game), knows="the game"),
        "reward-optimal": Entrant(lambda game, horizon: ranks.reward_optimal(game), knows="the game"),
        "oracle CDF": Entrant(lambda game, horizon: ranks.oracle_cdf(game), knows="the distributions of rewards"),
    }
)
"""The entrants by name."""
