#include "planner/risk/risk_goal.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant::inline planner {
namespace {

constexpr std::size_t kFewDraws = 16;  // tell the better half of the plans

// The draws, from that in which a plan is fastest to that in which it is slowest.
std::vector<std::size_t> by_time(const std::vector<double>& times_s) {
  std::vector<std::size_t> order(times_s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return times_s[a] < times_s[b]; });
  return order;
}

// Draws that a search is worth: around the percentile, or from fast to slow.
std::vector<std::size_t> draws_to_search(const RiskGoal& goal, const std::vector<double>& times_s,
                                         int searches) {
  const std::vector<std::size_t> order = by_time(times_s);
  const auto count = std::min(order.size(), static_cast<std::size_t>(searches));
  const auto last = static_cast<double>(order.size() - 1);
  constexpr double kAround = 0.05;  // of the probability, to either side of the percentile
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    const double rank =
        goal.percentile ? std::clamp(*goal.percentile + kAround * (2 * part - 1), 0.0, 1.0) : part;
    chosen.push_back(order[static_cast<std::size_t>(std::lround(rank * last))]);
  }
  return chosen;
}

struct Judged {
  Plan plan;
  LogSpread spread = {};
  double at_goal_s = 0;
};

double normal_at_most(double deviations) { return 0.5 * std::erfc(-deviations / std::numbers::sqrt2); }

// The probability of at most exp(log_s) seconds.
double probability_within(double log_s, const std::vector<double>& times_s, const LogSpread& spread) {
  double sum = 0;
  for (const double time_s : times_s) {
    const double above = log_s - std::log(time_s);
    sum += normal_at_most(above / (above < 0 ? spread.below : spread.above));
  }
  return sum / static_cast<double>(times_s.size());
}

double quantile_of_mixture(double probability, const std::vector<double>& times_s, const LogSpread& spread) {
  constexpr double kFar = 8;  // deviations, beyond any percentile that can be asked for
  constexpr int kHalvings = 60;
  const auto [fastest, slowest] = std::minmax_element(times_s.begin(), times_s.end());
  double low = std::log(*fastest) - kFar * spread.below, high = std::log(*slowest) + kFar * spread.above;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (probability_within(middle, times_s, spread) < probability ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

// The mean of exp(x), where x has the spread around zero.
double mean_factor(const LogSpread& spread) {
  return std::exp(0.5 * spread.above * spread.above) * normal_at_most(spread.above) +
         std::exp(0.5 * spread.below * spread.below) * normal_at_most(-spread.below);
}

// The same lengths and links with the documented coefficients.
std::vector<RiskDraw> at_documented_coefficients(const PlanRequest& request, std::vector<RiskDraw> draws) {
  for (RiskDraw& draw : draws) {
    draw.coefficients = request.coefficients;
    draw.model_factor = 1;
  }
  return draws;
}

// The plan that is the fastest at the documented values becomes the first.
void put_fastest_first(const PlanRequest& request, std::vector<Judged>& plans) {
  const std::vector<RiskDraw> documented = risk_draws(request, {}, {0, 0}, 1, 1);
  std::vector<double> times_s;
  for (const Judged& judged : plans) times_s.push_back(times_under(request, judged.plan, documented).front());
  const auto fastest = std::min_element(times_s.begin(), times_s.end()) - times_s.begin();
  std::rotate(plans.begin(), plans.begin() + fastest, plans.begin() + fastest + 1);
}

// The first plan stays the first.
void judge(const PlanRequest& request, const RiskGoal& goal, const std::vector<RiskDraw>& draws,
           std::vector<Judged>& plans) {
  for (Judged& judged : plans)
    judged.at_goal_s = risk_of(goal, times_under(request, judged.plan, draws), judged.spread);
}

void keep_better_half(std::vector<Judged>& plans) {
  std::stable_sort(plans.begin() + 1, plans.end(),
                   [](const Judged& a, const Judged& b) { return a.at_goal_s < b.at_goal_s; });
  plans.resize(1 + plans.size() / 2);
}

bool is_same(const Plan& a, const Plan& b) { return a.tasks == b.tasks && a.weight_sync == b.weight_sync; }

}  // namespace

std::string name_of(const RiskGoal& goal) {
  constexpr double kHundred = 100;
  return goal.percentile ? "p" + std::to_string(std::lround(kHundred * *goal.percentile)) : "mean";
}

double risk_of(const RiskGoal& goal, const std::vector<double>& times_s, const LogSpread& spread) {
  if (spread.below <= 0 || spread.above <= 0)
    return goal.percentile ? quantile(times_s, *goal.percentile) : mean(times_s);
  return goal.percentile ? quantile_of_mixture(*goal.percentile, times_s, spread)
                         : mean(times_s) * mean_factor(spread);
}

RiskAnswer plan_for_risk(const PlanRequest& request, const Plan& first, const RiskSearch& search) {
  SEXTANT_CHECK(!search.draws.empty());
  const std::vector<double> times_s = times_under(request, first, search.draws);
  std::vector<Judged> plans{{first}};
  for (const std::size_t d : draws_to_search(search.goal, times_s, search.searches)) {
    const RiskDraw& draw = search.draws[d];
    std::optional<Plan> found =
        search.plan(with_inputs(request, draw.cluster, draw.workflow, draw.coefficients));
    if (!found) continue;
    const bool is_known = std::any_of(plans.begin(), plans.end(),
                                      [&](const Judged& judged) { return is_same(judged.plan, *found); });
    if (!is_known) plans.push_back({std::move(*found)});
  }
  put_fastest_first(request, plans);
  std::vector<RiskDraw> draws = search.draws;
  if (search.spread_of) {
    draws = at_documented_coefficients(request, std::move(draws));
    for (Judged& judged : plans) judged.spread = search.spread_of(judged.plan);
  }
  const std::size_t different = plans.size();
  if (plans.size() > 2 && draws.size() > kFewDraws) {
    const std::vector<RiskDraw> few(draws.begin(), draws.begin() + kFewDraws);
    judge(request, search.goal, few, plans);
    keep_better_half(plans);
  }
  judge(request, search.goal, draws, plans);
  const auto best = std::min_element(
      plans.begin(), plans.end(), [](const Judged& a, const Judged& b) { return a.at_goal_s < b.at_goal_s; });
  return {best->plan, best->at_goal_s, plans.front().at_goal_s, different, draws.size()};
}

}  // namespace sextant::inline planner
