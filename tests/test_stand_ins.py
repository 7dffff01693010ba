"""Stand-ins for data: they have what is published of the data, and the truth that they state."""

import numpy as np
import pytest

from fairlib import data
from fairlib.study.replay import article_contexts


def test_frequencies_have_what_is_published_of_mediamill():
    f = data.frequencies_like_mediamill()
    assert f[0] * 43_907 == pytest.approx(33_869)
    assert f[-1] * 43_907 == pytest.approx(31)
    assert f.sum() == pytest.approx(4.376)
    assert (np.diff(f) < 0).all()


def test_labels_have_the_frequencies_and_depend_on_the_features():
    drawn, f = data.labels_like_mediamill(20_000, seed=1), data.frequencies_like_mediamill()
    assert np.linalg.norm(drawn.features, axis=1) == pytest.approx(np.ones(20_000))
    off = (drawn.labels.mean(axis=0) - f) / np.sqrt(f * (1 - f) / 20_000)
    assert np.abs(off).max() < 4.5
    first = drawn.labels[:, 0]
    along = drawn.features @ (first @ drawn.features)  # along the direction that the label likes
    assert first[along > 0].mean() - first[along < 0].mean() > 0.15


def test_visits_are_clicked_as_the_parameter_says():
    events, rates, parameter = data.visits_like_today(20_000, seed=2)
    assert len(events) == 20_000
    assert len(rates) == 10 + 19_999 * 27 // 1200
    chances = np.array([article_contexts(e)[e.pool.articles.index(e.displayed)] @ parameter for e in events])
    clicks = np.array([e.click for e in events])
    assert 0.01 <= chances.min() <= chances.max() <= 0.138
    assert abs((clicks - chances).sum()) < 4 * np.sqrt((chances * (1 - chances)).sum())
    rare, often = chances < np.quantile(chances, 0.3), chances > np.quantile(chances, 0.7)
    assert clicks[often].mean() > 1.3 * clicks[rare].mean()
    mean = clicks.mean()
    assert abs(mean - 1_633_488 / 45_811_883) < 0.006


def test_visits_show_articles_evenly_and_rates_are_those_of_the_average_visitor():
    events, rates, parameter = data.visits_like_today(5000, seed=3, pool=4)
    place = np.bincount([e.pool.articles.index(e.displayed) for e in events], minlength=4)
    assert place == pytest.approx(np.full(4, 1250), abs=4 * np.sqrt(5000 * 3 / 16))
    users = np.array([e.user for e in events])
    assert users[:, 0] == pytest.approx(np.ones(5000))
    assert users[:, 1:].sum(axis=1) == pytest.approx(np.ones(5000))
    assert users[:, 1:].mean(axis=0) == pytest.approx(data.INTERESTS, abs=0.015)
    # Dirichlet's law: the variance of a share of mean m is m (1 - m) / (n + 1), where the parameters sum to n.
    interests = data.INTERESTS
    assert users[:, 1:].var(axis=0) == pytest.approx(interests * (1 - interests) / 6, rel=0.1)
    articles = np.array(
        list({a: x for e in events for a, x in zip(e.pool.articles, map(tuple, e.pool.features), strict=True)}.values())
    )
    assert len(articles) == len(rates) == 116
    assert articles[:, 0] == pytest.approx(np.ones(116))
    assert articles[:, 1:].mean(axis=0) == pytest.approx(np.full(5, 0.2), abs=4 * np.sqrt(0.16 / 6 / 116))
    assert articles[:, 1:].var() == pytest.approx(0.16 / 6, rel=0.3)
    average = np.concatenate([[1.0], interests])
    for event in events[::500]:
        means = article_contexts(event._replace(user=average)) @ parameter
        assert means == pytest.approx([rates[article] for article in event.pool.articles])


def test_the_same_seed_draws_the_same():
    one, two, other = (data.visits_like_today(300, seed=seed) for seed in (0, 0, 5))
    assert [e.click for e in one.events] == [e.click for e in two.events]
    assert one.rates == two.rates != other.rates
    assert np.array_equal(data.labels_like_mediamill(9, seed=1).labels, data.labels_like_mediamill(9, seed=1).labels)
