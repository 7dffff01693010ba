"""Other projects' code on our games, in a process of their own Python: it waits for its turn, plays, and says how long.

``python peers.py [AUTHORS]`` reads requests, one a line, as JSON: none of its packages is ours, and nothing of it is
imported by us. An empty request is answered with what can be played, and why the rest can't. ``AUTHORS`` is a folder
with the authors' public code, FairCMAB-Delays and GMFbandits.

Each peer learns as its documentation shows, and its rounds are counted with what draws the rewards, as ours are.
"""

import contextlib
import importlib.metadata
import io
import json
import random
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

K, D = 10, 10
MEANS = np.linspace(0.9, 0.1, K)
chance = np.random.default_rng(1)
Play = Callable[[int], object]
PEERS: dict[tuple[str, str], Callable[[], Play]] = {}  # what makes each ready to play some rounds


def peer(package: str, policy: str) -> Callable[[Callable[[], Play]], Callable[[], Play]]:
    """Name what follows as what a package plays, by the name of our policy for the same."""

    def note(make: Callable[[], Play]) -> Callable[[], Play]:
        PEERS[package, policy] = make
        return make

    return note


def rewarded(arm: int) -> int:
    """Draw a reward, 0 or 1."""
    return int(random.random() < MEANS[arm])


def context() -> Any:
    """Draw the contexts of a round, evenly on the sphere."""
    x = chance.standard_normal((K, D))
    return x / np.sqrt((x * x).sum(axis=1, keepdims=True))


def linear_reward(x: Any) -> float:
    """Draw the reward of a context."""
    return float(x.sum() / D**0.5 + chance.standard_normal())


# UCB1 ----------------------------------------------------------------------------------------------------------------


def smpybandits(name: str, *settings: Any) -> Play:
    """Make a policy of SMPyBandits, which wants a SciPy that still has two old names."""
    import scipy.special

    scipy.special.btdtri = getattr(scipy.special, "btdtri", scipy.special.betaincinv)
    scipy.special.btdtr = getattr(scipy.special, "btdtr", scipy.special.betainc)
    import SMPyBandits.Policies as policies  # noqa: N813

    def play(rounds: int) -> None:
        policy = getattr(policies, name)(K, *settings)
        policy.startGame()
        for _ in range(rounds):
            arm = policy.choice()
            policy.getReward(arm, rewarded(arm))

    return play


@peer("SMPyBandits", "UCB1")
def _() -> Play:
    return smpybandits("UCB")


@peer("SMPyBandits", "Thompson sampling")
def _() -> Play:
    return smpybandits("Thompson")


@peer("SMPyBandits", "epsilon-greedy")
def _() -> Play:
    return smpybandits("EpsilonGreedy", 0.1)


def mabwiser(make: Callable[[Any], Any]) -> Play:
    """Make a policy of MABWiser."""
    from mabwiser.mab import MAB, LearningPolicy

    def play(rounds: int) -> None:
        learner = MAB(arms=list(range(K)), learning_policy=make(LearningPolicy))
        learner.fit(list(range(K)), [rewarded(arm) for arm in range(K)])
        for _ in range(rounds):
            arm = learner.predict()
            learner.partial_fit([arm], [rewarded(arm)])

    return play


@peer("MABWiser", "UCB1")
def _() -> Play:
    return mabwiser(lambda policies: policies.UCB1(alpha=1.0))


@peer("MABWiser", "Thompson sampling")
def _() -> Play:
    return mabwiser(lambda policies: policies.ThompsonSampling())


@peer("MABWiser", "epsilon-greedy")
def _() -> Play:
    return mabwiser(lambda policies: policies.EpsilonGreedy(epsilon=0.1))


def river(make: Callable[[Any], Any], reward: Callable[[int], Any] = rewarded) -> Play:
    """Make a policy of River."""
    from river import bandit

    def play(rounds: int) -> None:
        policy, arms = make(bandit), range(K)
        for _ in range(rounds):
            arm = policy.pull(arms)
            policy.update(arm, reward(arm))

    return play


@peer("River", "UCB1")
def _() -> Play:
    return river(lambda bandit: bandit.UCB(delta=1.0))


@peer("River", "Thompson sampling")
def _() -> Play:
    from river import proba

    return river(lambda bandit: bandit.ThompsonSampling(reward_obj=proba.Beta()), lambda arm: bool(rewarded(arm)))


@peer("River", "epsilon-greedy")
def _() -> Play:
    return river(lambda bandit: bandit.EpsilonGreedy(epsilon=0.1))


@peer("striatum", "UCB1")
def _() -> Play:
    from striatum import storage
    from striatum.bandit import UCB1

    def play(rounds: int) -> None:
        actions = storage.MemoryActionStorage()
        actions.add([storage.Action(arm) for arm in range(K)])
        policy = UCB1(storage.MemoryHistoryStorage(), storage.MemoryModelStorage(), actions)
        for _ in range(rounds):
            history, recommended = policy.get_action()
            arm = recommended.action.id
            policy.reward(history, {arm: rewarded(arm)})

    return play


@peer("PyBandits", "Thompson sampling")
def _() -> Play:
    from pybandits.model import Beta
    from pybandits.smab import SmabBernoulli

    def play(rounds: int) -> None:
        learner = SmabBernoulli(actions={str(arm): Beta() for arm in range(K)})
        for _ in range(rounds):
            actions = learner.predict(n_samples=1)[0]
            learner.update(actions=actions, rewards=[rewarded(int(actions[0]))])

    return play


@peer("bayesianbandits", "Thompson sampling")
def _() -> Play:
    from bayesianbandits import Agent, Arm, DirichletClassifier, ThompsonSampling

    def play(rounds: int) -> None:
        arms = [
            Arm(arm, reward_function=lambda drawn: drawn[..., 1], learner=DirichletClassifier({0: 1, 1: 1}))
            for arm in range(K)
        ]
        agent: Any = Agent(arms, ThompsonSampling())
        for _ in range(rounds):
            (arm,) = agent.pull()
            agent.select_for_update(arm).update(np.array([rewarded(arm)]))

    return play


# Contexts: these learn a parameter for each arm, ours one for all; in a round either updates one ---------------------


@peer("MABWiser", "LinUCB")
def _() -> Play:
    from mabwiser.mab import MAB, LearningPolicy

    def play(rounds: int) -> None:
        learner = MAB(arms=list(range(K)), learning_policy=LearningPolicy.LinUCB(alpha=0.5))
        x = context()
        learner.fit(list(range(K)), [linear_reward(each) for each in x], x)
        for _ in range(rounds):
            x = context()[:1]
            arm = learner.predict(x)
            learner.partial_fit([arm], [linear_reward(x[0])], x)

    return play


@peer("contextualbandits", "LinUCB")
def _() -> Play:
    from contextualbandits.online import LinUCB

    def play(rounds: int) -> None:
        learner = LinUCB(nchoices=K, alpha=0.5)
        x = context()
        learner.fit(x, np.arange(K), np.array([linear_reward(each) for each in x]))
        for _ in range(rounds):
            x = context()[:1]
            learner.partial_fit(x, learner.predict(x), np.array([linear_reward(x[0])]))

    return play


@peer("River", "LinUCB")
def _() -> Play:
    from river import bandit

    def play(rounds: int) -> None:
        policy, arms = bandit.LinUCBDisjoint(alpha=0.5), list(range(K))
        for _ in range(rounds):
            x = context()[0]
            seen = dict(enumerate(x.tolist()))
            arm = policy.pull(arms, context=seen)
            policy.update(arm, seen, linear_reward(x))

    return play


@peer("striatum", "LinUCB")
def _() -> Play:
    from striatum import storage
    from striatum.bandit import LinUCB

    def play(rounds: int) -> None:
        actions = storage.MemoryActionStorage()
        actions.add([storage.Action(arm) for arm in range(K)])
        models, history = storage.MemoryModelStorage(), storage.MemoryHistoryStorage()
        policy = LinUCB(history, models, actions, context_dimension=D, alpha=0.5)
        for _ in range(rounds):
            x = context()
            at, recommended = policy.get_action({arm: x[arm] for arm in range(K)})
            arm = recommended.action.id
            policy.reward(at, {arm: linear_reward(x[arm])})

    return play


# The authors' own code -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def imported_from(folder: Path) -> Iterator[None]:
    """Let modules be found in a folder, and forget them afterwards: both projects call theirs alike."""
    known = set(sys.modules)
    sys.path.insert(0, str(folder))
    for drawing in ("plot", "plots", "seaborn"):  # they import what draws their figures, which nobody needs here
        sys.modules[drawing] = types.ModuleType(drawing)
    yield
    sys.path.remove(str(folder))
    for name in set(sys.modules) - known:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def of_delays(folder: Path, name: str) -> Play:
    """Make a policy of FairCMAB-Delays for its own synthetic game, as its run.py plays it."""
    with imported_from(folder / "FairCMAB-Delays" / "Experiments_synthetic_data"):
        algorithms: Any = __import__("algorithms")

    def play(rounds: int) -> None:
        means = [0.3, 0.5, 0.7, 0.9, 0.8, 0.6, 0.4]
        late = 0.05 if name.startswith("OP") else [0.05] * 7
        policy = getattr(algorithms, name)(3, 7, means, "Geometric_delay", "Bernoulli_reward", late, c=4)
        for t in range(1, rounds + 1):
            p, arms = policy.select_arms(t)
            policy.update_state(arms, *policy.pull_arms(arms), t)
            policy.get_reward_regret(p)
            policy.get_fairness_regret(p)

    return play


def of_ranks(folder: Path, name: str) -> Play:
    """Make a policy of GMFbandits for the simulation of its section 6."""
    with imported_from(folder / "GMFbandits"):
        sys.modules["plot"].__dict__.update(np=np)
        simulation: Any = __import__("simulation")
        policies: Any = __import__("policies")
    settings = {"mode": "manual_reward_2", "context_mode": "standard_uniform", "n_arms": 4}
    problem = simulation.SimuFB(**settings)
    given = {"Random": (), "OFUL": (0.1, problem.d), "FairGreedy": (0.1, problem.d, 1e-8)}[name]

    def play(rounds: int) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            policies.test_policy(lambda: getattr(policies, name)(*given), P=problem, T=rounds)

    return play


DELAYED = ("FCUCB-D", "FCTS-D", "OP-FCUCB-D", "OP-FCTS-D", "CUCB-D", "MP-TS-D", "FGreedy-D")
RANKED = {"at random": "Random", "OFUL, as published": "OFUL", "Fair-Greedy": "FairGreedy"}


def authors(folder: Path) -> None:
    """Name what the authors' code plays."""
    for policy in DELAYED:
        PEERS["FairCMAB-Delays", policy] = partial(of_delays, folder, policy.replace("-", "_"))
    for policy, name in RANKED.items():
        PEERS["GMFbandits", policy] = partial(of_ranks, folder, name)


# Turns ---------------------------------------------------------------------------------------------------------------


def version(package: str) -> str:
    """Return the version of a package, or nothing for what is not installed as one."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def main() -> None:
    """Answer requests."""
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        authors(Path(sys.argv[1]).resolve())
    answers, sys.stdout = sys.stdout, sys.stderr  # some print
    ready: dict[tuple[str, str], Play] = {}
    for line in sys.stdin:
        request = json.loads(line)
        answer: Any
        if not request:
            answer = []
            for (package, policy), make in PEERS.items():
                fault = ""
                try:
                    ready[package, policy] = make()
                    ready[package, policy](3)
                except Exception as error:  # whatever a package of others raises
                    fault = f"{type(error).__name__}: {error}".splitlines()[0]
                answer.append([package, version(package), policy, fault])
        else:
            random.seed(1)
            np.random.seed(1)  # noqa: NPY002 -- the authors' code draws from there
            start = time.process_time()
            ready[request["package"], request["policy"]](request["rounds"])
            answer = time.process_time() - start
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
