"""Means with standard errors, and the paired t statistic."""

import math

import numpy as np
import pytest
from scipy import stats

import fairlib as fl


def test_means_and_errors_are_those_of_the_textbooks():
    values = np.random.default_rng(1).normal(3.0, 2.0, 50)
    assert fl.estimate(values) == pytest.approx((values.mean(), stats.sem(values)))


def test_a_distance_is_the_statistic_of_a_paired_test():
    rng = np.random.default_rng(2)
    common = rng.normal(size=40)
    first, second = common + rng.normal(0.1, 0.1, 40), common
    assert fl.paired_t(first, second) == pytest.approx(stats.ttest_rel(first, second).statistic)
    assert fl.paired_t(first, 0.5) == pytest.approx(stats.ttest_1samp(first, 0.5).statistic)
    assert fl.paired_t(first, second) > 3 > stats.ttest_ind(first, second).statistic, "it compares no run with its own"


def test_what_is_the_same_in_every_run_is_as_far_apart_as_can_be():
    assert fl.paired_t(np.ones(20)) == math.inf
    assert fl.paired_t(np.zeros(20), 1.0) == -math.inf
    assert fl.paired_t(np.ones(20), np.ones(20)) == 0.0


def test_an_estimate_is_printed_with_its_error():
    assert f"{fl.Estimate(1234.56, 7.8):9.1f}" == "   1234.6 ± 7.8"
    assert f"{fl.Estimate(1234.56, 7.8):,.0f}" == "1,235 ± 8"
    assert f"{fl.Estimate(0.12345, 0.00123):.4f}" == "0.1235 ± 0.0012"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: fl.paired_t(np.arange(19.0)), r"^first must be of 20 runs or more, not of 19"),
        (lambda: fl.paired_t(np.arange(20.0), np.arange(21.0)), r"^second must be a number or of 20 runs.*not of 21"),
        (lambda: fl.paired_t(np.arange(20.0), np.ones((20, 1))), r"^second must be a number or a row of numbers"),
        (lambda: fl.estimate([1.0]), r"^values must be of two runs or more, not of 1"),
    ],
)
def test_too_little_for_a_verdict_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()
