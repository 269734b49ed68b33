// The acceptance rule of a Markov chain over plans: Metropolis and Hastings's rule on the logarithm of the
// cost.
//
// ReaL accepts with min(1, exp(-beta (cost' - cost))) and leaves beta, an inverse time, to the user. Its public
// search counted parts of the cost in ms and others in us, so that with a beta meant for us it accepted nearly
// every worse plan. On the logarithm the temperature has no unit: a cost increase of 1 % is equally likely to
// be accepted for iterations of a millisecond and of an hour, and the rule is still Metropolis and Hastings's
// (the stationary probabilities of the chain are proportional to cost^(-1 / temperature)).
#pragma once

#include <algorithm>
#include <cmath>

#include "planner/evaluate/evaluator.h"

namespace sextant::inline planner {

// The value that a chain minimises. A plan that does not fit, or exceeds a limit, is charged as kOverflow times
// slower (ReaL does likewise), and more the more of the smallest device's memory it lacks, so that a chain that
// starts outside finds its way in. free_memory_bytes: of the smallest device.
[[nodiscard]] inline double loss_of(const Score& score, double free_memory_bytes) {
  constexpr double kOverflow = 10;  // times slower
  const double loss = std::log(score.loss);
  if (score.fits()) return loss;
  return loss + std::log(kOverflow) + std::max(0.0, score.excess_bytes) / free_memory_bytes + score.overrun;
}

// The probability to accept a proposal that is as likely as its reverse. temperature > 0: at 0.01 a cost
// increase of 1 % is accepted with probability exp(-ln 1.01 / 0.01) = 0.37.
[[nodiscard]] inline double acceptance_probability(double loss, double proposed_loss, double temperature) {
  return std::exp(std::min(0.0, (loss - proposed_loss) / temperature));
}

// The temperature, which falls geometrically: at first a plan 10 % worse is accepted about as often as not, at
// the end one 0.1 % worse rarely is. step: 0 .. steps - 1.
[[nodiscard]] inline double temperature_at(std::uint64_t step, std::uint64_t steps) {
  constexpr double kFirst = 0.1, kLast = 0.0005;
  const double done = static_cast<double>(step) / static_cast<double>(steps);
  return kFirst * std::pow(kLast / kFirst, done);
}

}  // namespace sextant::inline planner
