"""Log-normal lengths with a stated mean."""

import math

from documents import fixed_length

USUAL_SIGMA = 0.6  # deviation of the logarithm of response lengths if the source does not state it


def lognormal(median, sigma, maximum):
    return {"kind": "lognormal", "median": float(median), "sigma": sigma, "max": float(maximum)}


def _normal_below(z):
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def _mean(median, sigma, maximum):
    """Of the lengths cut at the maximum."""
    z = math.log(maximum / median) / sigma
    untruncated = median * math.exp(0.5 * sigma * sigma)
    return untruncated * _normal_below(z - sigma) + maximum * _normal_below(-z)


def longest_of(lengths, count):
    """Mean of the longest of `count` lengths: the integral of 1 - F(x)^n from 0 to the maximum, in log(x) by Simpson's
    rule; below e^-9 deviations from the median the integrand is x itself."""
    if lengths["kind"] == "fixed":
        return lengths["tokens"]
    intervals, deviations = 256, 9
    median, sigma, maximum = (lengths[member] for member in ("median", "sigma", "max"))
    begin = math.log(median) - deviations * sigma
    end = min(math.log(maximum), math.log(median) + (deviations + math.sqrt(2 * math.log(count))) * sigma)
    if end <= begin:
        return maximum
    step, total = (end - begin) / intervals, 0.0
    for i in range(intervals + 1):
        y = begin + i * step
        below = _normal_below((y - math.log(median)) / sigma)
        beyond = -math.expm1(count * math.log(below)) if below > 0 else 1.0
        total += (1 if i in (0, intervals) else 4 if i % 2 else 2) * beyond * math.exp(y)
    return math.exp(begin) + total * step / 3


def _root(low, high, function):
    """Of an increasing function between `low` and `high`, to the last bit of a double, nearly."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def with_mean(mean, sigma, maximum):
    """Lengths whose mean, cut at the maximum, is `mean`; with a smaller deviation if `sigma` allows no such median
    below the maximum, and fixed if the mean is not below it."""
    smallest = 0.01
    while sigma > smallest and _mean(maximum, sigma, maximum) < mean:
        sigma *= 0.5
    if not mean < maximum or sigma <= smallest:
        return fixed_length(mean)
    median = _root(mean * 1e-3, maximum, lambda candidate: _mean(candidate, sigma, maximum) - mean)
    return lognormal(median, sigma, maximum)


def with_longest(mean, longest, count, maximum):
    """Like with_mean, with the deviation for which the mean of the longest of `count` lengths is `longest`."""
    if not longest < maximum or not mean < longest:
        return with_mean(mean, USUAL_SIGMA, maximum)
    sigma = _root(0.05, 1.5, lambda candidate: longest_of(with_mean(mean, candidate, maximum), count) - longest)
    return with_mean(mean, sigma, maximum)
