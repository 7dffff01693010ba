"""Stand-ins for data that can't come with the book: drawn by laws that are stated here, so that the truth is known.

On a stand-in the code runs as it would on the data, and the questions are the same; the numbers are not.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairlib.checks import PositiveInt, Seed, checked
from fairlib.data.labels import MultiLabel
from fairlib.data.news import Event, Pool

__all__ = ["frequencies_like_mediamill", "labels_like_mediamill", "KnownLog", "INTERESTS", "visits_like_today"]


def frequencies_like_mediamill() -> NDArray[np.float64]:
    r"""Return 101 frequencies that agree with what is published of mediamill's labels.

    The number of examples, 43,907, is published, and so are those of the rarest and of the most frequent label, 31 and
    33,869, and the mean number of labels of an example, 4.376. One curve of the form
    :math:`f_j = f_0 (f_{100}/f_0)^{(j/100)^s}` fits them, and the stand-in uses it: the first frequency, the last one
    and the sum are right, and those in between are made up.

    Returns
    -------
    ndarray, shape (101,)
        The frequencies, largest first.

    See Also
    --------
    mediamill : reads the data themselves, if you have them.

    Examples
    --------
    >>> f = frequencies_like_mediamill()
    >>> f.size, round(float(f[0]) * 43_907), round(float(f[-1]) * 43_907), round(float(f.sum()), 3)
    (101, 33869, 31, 4.376)
    """
    from scipy.optimize import brentq  # here, as the import of the package must stay quick

    place, most, least = np.linspace(0, 1, 101), 33_869 / 43_907, 31 / 43_907

    def curve(s: float) -> NDArray[np.float64]:
        return np.asarray(most * (least / most) ** (place**s))

    return curve(brentq(lambda s: curve(s).sum() - 4.376, 0.1, 1.0, xtol=1e-15))


@checked
def labels_like_mediamill(examples: PositiveInt, *, seed: Seed) -> MultiLabel:
    r"""Draw examples with 120 features and 101 labels, instead of those of mediamill.

    Features are directions drawn uniformly. A label has the frequency :math:`f_a` of `frequencies_like_mediamill`,
    which each example raises or lowers by up to a quarter, by a direction :math:`w_a` of the label's own:
    :math:`f_a (1 + \frac14 \tanh(\sqrt{120}\, w_a \cdot x))`. Given the features, labels are independent.

    Parameters
    ----------
    examples : int
        The number to draw.
    seed : int
        Seed of the features, the directions and the labels.

    Returns
    -------
    MultiLabel
        Features of shape (examples, 120), each row of length 1, and labels of shape (examples, 101).

    Examples
    --------
    >>> drawn = labels_like_mediamill(500, seed=1)
    >>> drawn.features.shape, drawn.labels.shape, round(float(drawn.labels.sum(axis=1).mean()), 1)
    ((500, 120), (500, 101), 4.4)
    """
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((examples, 120)), rng.standard_normal((101, 120))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    chances = frequencies_like_mediamill() * (1 + 0.25 * np.tanh(math.sqrt(120) * x @ w.T))
    return MultiLabel(x, (rng.random(chances.shape) < chances).astype(np.float64))


class KnownLog(NamedTuple):
    """A log of visits whose truth is known.

    Parameters
    ----------
    events : list of Event
        The visits.
    rates : dict
        How often each article is clicked on average over all visitors, by its number.
    parameter : ndarray, shape (36,)
        The chance of a click is this times the context, as `fairlib.study.replay.article_contexts` makes it.

    Examples
    --------
    >>> KnownLog([], {}, np.zeros(36)).rates
    {}
    """

    events: list[Event]
    rates: dict[int, float]
    parameter: NDArray[np.float64]


INTERESTS = np.array([0.40, 0.25, 0.15, 0.12, 0.08])
"""The average interests of the visitors of the stand-in."""


@checked
def visits_like_today(visits: PositiveInt, *, seed: Seed, pool: PositiveInt = 10) -> KnownLog:
    """Draw days on a front page, instead of the log of the Yahoo! Today Module.

    As in the log visitor and article have six features, a constant 1 and five that sum to 1, and the article displayed
    is drawn uniformly from a pool in which articles come and go: 27 a day, as the log has 271 in ten days, where a day
    is 1,200 visits. The chance of a click is 0.01 and 0.128 times the product of the five features of visitor and
    article, which is 3.6 clicks in 100 visits, the published rate. So the linear model is true here; in the log it need
    not be, and rates change with the hour.

    Parameters
    ----------
    visits : int
        The number to draw.
    seed : int
        Seed of the visitors, the articles and the clicks.
    pool : int
        The number of articles at a time.

    Returns
    -------
    KnownLog
        The visits and the truth about them.

    See Also
    --------
    read_today : reads the log itself, if you have it.

    Examples
    --------
    >>> known = visits_like_today(1200, seed=1)
    >>> len(known.events), len(known.rates), len(known.events[0].pool.articles)
    (1200, 36, 10)
    """
    rng = np.random.default_rng(seed)
    clicks = np.zeros((6, 6))
    clicks[0, 0], clicks[range(1, 6), range(1, 6)] = 0.01, 0.128

    def featured(law: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate([[1.0], rng.dirichlet(law)])

    there: dict[int, NDArray[np.float64]] = {}
    rates: dict[int, float] = {}

    def arrive() -> None:
        article = len(rates)
        there[article] = featured(np.ones(5))
        rates[article] = float(there[article] @ clicks @ np.concatenate([[1.0], INTERESTS]))

    for _ in range(pool):
        arrive()
    now, events = Pool(tuple(there), np.array(list(there.values()))), []
    for t in range(visits):
        if t > 0 and t * 27 // 1200 > (t - 1) * 27 // 1200:
            del there[int(rng.choice(list(there)))]
            arrive()
            now = Pool(tuple(there), np.array(list(there.values())))
        user = featured(5 * INTERESTS)
        shown = int(rng.integers(pool))
        click = int(rng.random() < now.features[shown] @ clicks @ user)
        events.append(Event(t, now.articles[shown], click, user, now))
    return KnownLog(events, rates, clicks.ravel())
