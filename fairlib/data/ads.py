"""Ads and their conversions: the ten of Chen et al. (2024), and Criteo's log."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.checks import checked
from fairlib.data.files import FilePath, _lines, _short, _there
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
        The file ``CriteoSearchData``; ``.gz`` and ``.xz`` are unpacked on the way. Each line has 23 fields with tabs
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
        If a line does not parse, or the file has too few ads with conversions; the message names the file and the line.

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
    clicks: Counter[str] = Counter()
    conversions: Counter[str] = Counter()
    delays: dict[str, list[int]] = {}
    for number, line in _lines(file):
        fields = line.rstrip("\n").split("\t")
        if len(fields) != 23:
            raise ValueError(f"{file}, line {number}: a line must have 23 fields, not {len(fields)}")
        sale, title = fields[0], fields[20]
        if sale not in ("0", "1"):
            raise ValueError(f"{file}, line {number}: the 1st field, a purchase, must be 0 or 1, not {_short(sale)}")
        if title in ("", "-1"):
            continue  # no title: it can't be said which ad that was
        clicks[title] += 1
        if sale == "1":
            conversions[title] += 1
            seconds, in_week = (_whole_field(f"{file}, line {number}", fields, at) for at in (2, 4))
            if seconds >= 0 and in_week >= 0:
                delays.setdefault(title, []).append(seconds * in_week * 20 // WEEK)
    most = {title for title, _ in clicks.most_common(arms)}
    ads = [title for title in conversions if title in most]
    if len(ads) < arms or any(title not in delays for title in ads):
        raise ValueError(
            f"{file}: each of the {arms} ads with most clicks must have a conversion of known delay; set arms to fewer"
        )
    numbers = np.array([conversions[title] for title in ads])
    if numbers.min() == numbers.max():
        raise ValueError(f"{file}: the {arms} ads with most clicks must differ in their conversions; set arms to more")
    return Ads(
        conversions=numbers,
        means=_from_least_to_most(numbers),
        delay=empirical([delays[title] for title in ads]),
        clicks=np.array([clicks[title] for title in ads]),
    )


WEEK = 7 * 24 * 60 * 60
"""Seconds in a week."""


def _whole_field(place: str, fields: Sequence[str], at: int) -> int:
    if not re.fullmatch(r"-1|\d{1,18}", fields[at], re.ASCII):
        raise ValueError(
            f"{place}: field {at + 1} must be a whole number of 1 to 18 digits, or -1, not {_short(fields[at])}"
        )
    return int(fields[at])


def _from_least_to_most(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = (numbers - numbers.min()) / (numbers.max() - numbers.min())
    return scaled
