"""Ads and their conversions: the ten of Chen et al. (2024), and Criteo's log."""

import csv
import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.checks import checked
from fairlib.data.files import FilePath, _must, _numbers, _table, _there
from fairlib.delays import Law, empirical, log_normal

__all__ = ["Ads", "criteo_arms", "read_criteo", "WEEK"]


@dataclass(frozen=True, eq=False)
class Ads:
    """Ads as arms: a reward is a click that leads to a purchase, and is seen when the purchase is made.

    Parameters
    ----------
    conversions : ndarray of int, shape (K,)
        How many purchases followed clicks on each ad.
    means : ndarray, shape (K,)
        Mean rewards: the conversions, scaled to the range from 0 (fewest) to 1 (most), as Chen et al. (2024) do it.
    delay : Law
        How many rounds after the click the purchase is made.
    clicks : ndarray of int, shape (K,), or None
        How many clicks there were on each ad, where that is known.

    Examples
    --------
    >>> criteo_arms().means.round(4)
    array([0.8367, 1.    , 0.8841, 0.4953, 0.2339, 0.2086, 0.2002, 0.3541,
           0.275 , 0.    ])
    """

    conversions: NDArray[np.int64]
    means: NDArray[np.float64]
    delay: Law
    clicks: NDArray[np.int64] | None = None


def criteo_arms() -> Ads:
    """Return the ten ads of Chen et al. (2024), with a delay law of our own.

    The paper takes them from Criteo's log of conversions (`read_criteo`). The numbers of conversions are facts about
    the excerpt that is public with the paper's code (github.com/MLCL-SYSU/FairCMAB-Delays), in the order in which the
    ads first appear there.

    Returns
    -------
    Ads
        Ten arms. The delay law is **ours**, as we do not have the log: one log-normal law for all ads, through two
        quantiles of the excerpt's delays, the median of 104 rounds and the 90 % quantile of 12,890 rounds. Those are
        the delays in the paper's code, which lets a purchase more than 50,000 rounds late (23 % of them) come at once.

    Notes
    -----
    Section 6 of the paper. Without that rule, which the paper does not mention, the median is 671 rounds and the 90 %
    quantile 242,314.

    Examples
    --------
    >>> ads = criteo_arms()
    >>> ads.delay.quantiles(0.9, ads.means)[:3]
    array([12890., 12890., 12890.])
    """
    from scipy.special import ndtri  # only here: SciPy is slow to import, and the package must not be

    conversions = np.array([913, 1068, 958, 589, 341, 317, 309, 455, 380, 119])
    spread = math.log(12_890 / 104) / float(ndtri(0.9))
    delay = log_normal(np.full(conversions.size, 104), np.full(conversions.size, spread))
    return Ads(conversions, _from_least_to_most(conversions), delay)


@checked
def read_criteo(path: FilePath, arms: Annotated[int, checks.Integer(2)] = 10) -> Ads:
    r"""Read Criteo's log of conversions, and make arms of the ads with most clicks, as Chen et al. (2024) do.

    The log is the *Criteo sponsored search conversion log* of M. Tallis and P. Yadav (2018): 15,995,634 clicks, a line
    each, 6.4 GB. Criteo hands it out at ailab.criteo.com to those who accept its terms; copies elsewhere are labelled
    CC BY-NC-SA 4.0. The book neither ships nor fetches it.

    Parameters
    ----------
    path : path
        The file ``CriteoSearchData``; packed files are unpacked on the way. Each line has 23 fields with tabs
        between them; those used here are the 1st (1 for a purchase), the 3rd (seconds from click to purchase), the 5th
        (clicks on the ad in the week before) and the 21st (title of the ad, hashed). The value -1 is for unknown.
    arms : int
        The number of ads.

    Returns
    -------
    Ads
        The ads in the order of their first conversions. Ads are told apart by title: one ad may be sold under several
        product numbers. The delays are those recorded, in rounds, where a round is a visit of the page: with one click
        in 20 visits, n clicks in the week before make 20 n rounds a week. Conversions of unknown delay count as
        conversions.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where the data come from.
    TypeError, ValueError
        If a value is of the wrong kind, or the file has too few ads with conversions; the message names the file, the
        column (from 0) and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> def line(sale, seconds, title):
    ...     return "\t".join([sale, "9.9", seconds, "1", "100", *15 * ["-1"], title, "-1", "-1"]) + "\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log"
    ...     _ = path.write_text(line("1", "3024", "A") + line("0", "-1", "B") + 2 * line("1", "30240", "B"))
    ...     ads = read_criteo(path, arms=2)
    >>> ads.conversions, ads.means, ads.delay.quantiles(0.5, ads.means)
    (array([1, 2]), array([0., 1.]), array([ 10., 100.]))
    """
    file = _there(path, "CriteoSearchData, handed out at ailab.criteo.com to those who accept its terms")
    table = _table(file, [0, 2, 4, 20], header=None, sep="\t", quoting=csv.QUOTE_NONE, dtype={20: "category"})
    _must(file, table[0], _numbers(table[0]).isin([0, 1]), "0 or 1 for a purchase", first=1)
    titled = table[table[20].notna() & (table[20] != "-1")]  # without a title it can't be said which ad that was
    bought = titled[_numbers(titled[0]) == 1]
    seconds, in_week = (_numbers(bought[field]) for field in (2, 4))
    for field, values in ((2, seconds), (4, in_week)):
        _must(file, bought[field], (values >= -1) & (values % 1 == 0), "a whole number of at least 0, or -1", first=1)
    known = (seconds >= 0) & (in_week >= 0)
    delays = seconds[known].astype(np.int64) * in_week[known].astype(np.int64) * 20 // WEEK
    clicks, conversions = _by_title(titled), _by_title(bought)
    most = clicks.sort_values(ascending=False, kind="stable").index[:arms]
    ads = [title for title in conversions.index if title in most]
    recorded = [delays[(bought[20] == title)[known]].to_numpy() for title in ads]
    if len(ads) < arms or not all(map(len, recorded)):
        raise ValueError(
            f"{file}: each of the {arms} ads with most clicks must have a conversion of known delay; set arms to fewer"
        )
    numbers = conversions[ads].to_numpy()
    if numbers.min() == numbers.max():
        raise ValueError(f"{file}: the {arms} ads with most clicks must differ in their conversions; set arms to more")
    return Ads(numbers, _from_least_to_most(numbers), empirical(recorded), clicks[ads].to_numpy())


def _by_title(rows: Any) -> Any:
    """Count rows by title, in the order of first rows."""
    return rows.groupby(20, sort=False, observed=True).size()


WEEK = 7 * 24 * 60 * 60
"""Seconds in a week."""


def _from_least_to_most(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scale numbers to the range from 0 to 1."""
    return np.asarray((numbers - numbers.min()) / (numbers.max() - numbers.min()))
