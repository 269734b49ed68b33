#include "calibrate/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "core/units.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant::inline calibrate {

bool told_apart(int wins, int rounds) {
  constexpr double kDoubt = 0.05;
  const int maximum = std::max(wins, rounds - wins);
  double tail = 0;  // of a fair coin: `most` wins or more
  for (int k = maximum; k <= rounds; ++k) {
    tail += std::exp(std::lgamma(rounds + 1.0) - std::lgamma(k + 1.0) - std::lgamma(rounds - k + 1.0) -
                     rounds * std::log(2.0));
  }
  return 2 * tail <= kDoubt;
}

RankAgreement rank_agreement(std::span<const std::vector<double>> samples, std::span<const double> predicted) {
  SEXTANT_CHECK(samples.size() == predicted.size());
  RankAgreement agreement;
  int sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = i + 1; j < samples.size(); ++j) {
      const std::size_t rounds = std::min(samples[i].size(), samples[j].size());
      int wins = 0;  // of i
      for (std::size_t round = 0; round < rounds; ++round)
        wins += samples[i][round] < samples[j][round] ? 1 : 0;
      if (!told_apart(wins, static_cast<int>(rounds))) continue;
      ++agreement.pairs;
      const bool is_first = 2 * wins > static_cast<int>(rounds);
      if (predicted[i] != predicted[j]) sum += (predicted[i] < predicted[j]) == is_first ? 1 : -1;
    }
  }
  if (agreement.pairs > 0) agreement.tau = static_cast<double>(sum) / agreement.pairs;
  return agreement;
}

double regret_fraction(std::span<const double> measured_s, std::span<const double> predicted_s) {
  SEXTANT_CHECK(!measured_s.empty() && measured_s.size() == predicted_s.size());
  const double best_predicted_s = *std::min_element(predicted_s.begin(), predicted_s.end());
  double chosen_s = 0;
  for (std::size_t i = 0; i < measured_s.size(); ++i) {
    if (predicted_s[i] == best_predicted_s) chosen_s = std::max(chosen_s, measured_s[i]);
  }
  return chosen_s / *std::min_element(measured_s.begin(), measured_s.end()) - 1;
}

std::optional<PlanOrder> order_of_plans(std::span<const ComparedIteration> iterations) {
  struct Samples {
    std::vector<double> measured_s, predicted_s;
  };
  // The plans for each workflow, cluster and framework.
  std::map<std::tuple<std::string, std::string, std::string>, std::map<std::string, Samples>> groups;
  for (const ComparedIteration& iteration : iterations) {
    const Run& run = *iteration.run;
    Samples& plan = groups[{run.workflow, run.cluster, run.framework}][run.plan];
    plan.measured_s.push_back(iteration.measured_s);
    plan.predicted_s.push_back(iteration.predicted_s);
  }
  PlanOrder order;
  double tau_sum = 0, regret_sum = 0;
  for (const auto& [name, plans] : groups) {
    if (plans.size() < 2) continue;
    std::vector<double> measured_s, predicted_s;
    for (const auto& [plan, samples] : plans) {
      measured_s.push_back(median(samples.measured_s));
      predicted_s.push_back(median(samples.predicted_s));
    }
    const int pairs = static_cast<int>(plans.size() * (plans.size() - 1) / 2);
    const double regret = regret_fraction(measured_s, predicted_s);
    ++order.groups;
    order.pairs += pairs;
    tau_sum += kendall_tau(measured_s, predicted_s) * pairs;
    regret_sum += regret;
    order.worst_regret_fraction = std::max(order.worst_regret_fraction, regret);
  }
  if (order.groups == 0) return std::nullopt;
  order.kendall_tau = std::clamp(tau_sum / order.pairs, -1.0, 1.0);
  order.mean_regret_fraction = regret_sum / order.groups;
  return order;
}

std::string describe(const std::optional<PlanOrder>& order) {
  if (!order) {
    return "No two held-out plans are alternatives (same workflow, cluster and framework), so order and regret "
           "are unknown.";
  }
  return "Order of held-out plans that are alternatives (" + std::to_string(order->groups) + " groups, " +
         std::to_string(order->pairs) + " pairs): Kendall tau " + format_number(order->kendall_tau) +
         "; the plan predicted fastest is slower than the fastest by " +
         format_percent(order->mean_regret_fraction) + " on average and " +
         format_percent(order->worst_regret_fraction) + " at worst.";
}

}  // namespace sextant::inline calibrate
