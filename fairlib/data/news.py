"""Visits to a front page: logs of the Yahoo! Today Module."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.checks import checked
from fairlib.data.files import FilePath, _opened, _there

__all__ = ["Pool", "Event", "read_today"]


class Pool(NamedTuple):
    """The articles that could have been displayed in a visit.

    Parameters
    ----------
    articles : tuple of int
        Their numbers.
    features : ndarray, shape (K, 6)
        Their features; the first is the constant 1.

    Examples
    --------
    >>> Pool((100001, 100002), np.ones((2, 6))).articles
    (100001, 100002)
    """

    articles: tuple[int, ...]
    features: NDArray[np.float64]


class Event(NamedTuple):
    """A visit to the front page.

    Parameters
    ----------
    time : int
        When, in seconds since 1970.
    displayed : int
        The article displayed, drawn uniformly from the pool.
    click : int
        1 if it was clicked, else 0.
    user : ndarray, shape (6,)
        Features of the visitor; the first is the constant 1.
    pool : Pool
        The articles of which one was drawn.

    Examples
    --------
    >>> Event(1241160000, 100001, 0, np.ones(6), Pool((100001,), np.ones((1, 6)))).click
    0
    """

    time: int
    displayed: int
    click: int
    user: NDArray[np.float64]
    pool: Pool


@checked
def read_today(
    path: FilePath,
    skipped: Annotated[list[str], checks.Instance(list, "a list, to which messages are appended")] | None = None,
) -> Iterator[Event]:
    r"""Read a log of the Yahoo! Today Module, visit by visit.

    The log is the data set R6A, ``ydata-fp-td-clicks-v1_0``, ten files of about 4.6 million visits each. Yahoo! hands
    it out within its Webscope programme, for research, to those who sign that they won't pass it on: the book can
    neither ship nor fetch it.

    Parameters
    ----------
    path : path
        One day's file; packed files are unpacked on the way.
    skipped : list, optional
        By default a line that does not parse is an error. The real logs are known to hold a few (some have damaged
        fields, and the article 109528 comes without features). With a list given here they are left out, and what was
        wrong with each is appended to it, so that they can be counted and looked at.

    Yields
    ------
    Event
        The visits, in the file's order; one at a time is in memory, with the pools of some before it.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where the data come from.
    TypeError, ValueError
        If an argument is of the wrong kind, a line does not parse, or the article displayed is not in the pool; the
        message names the file and the line.

    Notes
    -----
    Used in section 5 of Wang et al. (2021), with the replay of Li et al. (2010), `fairlib.study.replay`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> six = "2:0.1 3:0.2 4:0.3 5:0.15 6:0.25 1:1.000000"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "visits"
    ...     _ = path.write_text(f"1241160000 100001 0 |user {six} |100001 {six} |100002 {six}\n")
    ...     event = next(iter(list(read_today(path))))
    >>> event.displayed, event.pool.articles, event.user.tolist()
    (100001, (100001, 100002), [1.0, 0.1, 0.2, 0.3, 0.15, 0.25])
    """
    file = _there(path, "the data set R6A of Yahoo! Webscope, handed out on request and not to be passed on")
    return _events(file, skipped)


def _events(file: Path, skipped: list[str] | None) -> Iterator[Event]:
    """Yield the visits of a file; lines that do not parse are noted in `skipped`, or an error."""
    with _opened(file) as content:
        for number, line in enumerate(content, 1):
            try:
                event = _event(line.decode().rstrip())
            except ValueError as error:
                if skipped is None:
                    raise ValueError(f"line {number}: {error}") from None
                skipped.append(f"{file}: line {number}: {error}")
            else:
                yield event


_SIX = "".join(rf" {i}:(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)" for i in (2, 3, 4, 5, 6)) + r" 1:1(?:\.0*)?"

_VISIT = re.compile(rf"(\d+) (\d+) ([01]) \|user{_SIX} \|(.*)", re.ASCII)

_ARTICLE = re.compile(rf"(\d+){_SIX}", re.ASCII)


def _event(line: str) -> Event:
    """Read a visit."""
    visit = _VISIT.fullmatch(line)
    if visit is None:
        raise ValueError(
            "a visit must read '<time> <article> <0 or 1> |user 2:<number> ... 6:<number> 1:1 |<article> ...', not "
            f"{line[:60]!r}"
        )
    pool, displayed = _pool(visit[9]), int(visit[2])
    if displayed not in pool.articles:
        raise ValueError(f"the article displayed, {displayed}, is not among those of the pool")
    return Event(int(visit[1]), displayed, int(visit[3]), np.array(_six(visit, 4)), pool)


@lru_cache(maxsize=1024)  # neighbouring visits share their pool: it is parsed once
def _pool(text: str) -> Pool:
    """Read the articles of a visit."""
    articles, features = zip(*(_article(part.rstrip()) for part in text.split("|")), strict=True)
    if len(set(articles)) < len(articles):
        raise ValueError("an article is twice in the pool")
    table = np.array(features)
    table.flags.writeable = False
    return Pool(articles, table)


@lru_cache(maxsize=1024)
def _article(text: str) -> tuple[int, tuple[float, ...]]:
    """Read an article and its features."""
    article = _ARTICLE.fullmatch(text)
    if article is None:
        raise ValueError(f"an article must read '|<number> 2:<number> ... 6:<number> 1:1', not {'|' + text[:60]!r}")
    return int(article[1]), _six(article, 2)


def _six(match: re.Match[str], first: int) -> tuple[float, ...]:
    """Return six features in the order of their numbers: the constant, which is printed last, first."""
    return 1.0, *(float(match[first + i]) for i in range(5))
