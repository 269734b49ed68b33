#include "probes/estimates/pair_fit.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "probes/estimates/part_choice.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

constexpr int kSweeps = 6;
constexpr double kFastQuantile = 0.05;   // of a class's costs; the very fastest may be a slip of the clock
constexpr std::size_t kFewestOfEnd = 3;  // pairs
constexpr std::size_t kFewestOfClass = 6;
// A part must lower the sum of errors by this many median errors of its level: about the log of the odds.
constexpr double kPartGain = 5;
// An end's part of a sum is shrunk instead: by half where it lowers the sum of errors by this much.
constexpr double kHalfGain = 2;
constexpr std::size_t kMaxOfPart =
    2048;  // pairs looked at for one part: its median is known to 3 % of their scatter
constexpr double kMinScale = 1e-4;

class Fitter {
 public:
  Fitter(const PartTable& table, std::span<const CostSample> samples, const FitKind& kind)
      : table_(table), samples_(samples), kind_(kind), of_part_(static_cast<std::size_t>(table.count())) {
    costs_.rule = kind.rule;
    costs_.of_part.resize(of_part_.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      parts_.push_back(table.parts_of(samples[i].pair));
      for (const int part : parts_.back().ends) add(part, i);
      for (int of = parts_.back().pair_class; of >= 0; of = table.classes()[of].parent) add(of, i);
    }
  }

  SegmentCosts fit() {
    start();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      measure_scales();
      for (int part = table_.count() - 1; kind_.has_ends && part >= table_.first_uplink(); --part)
        update_end(part);
      for (int part = table_.classes().count() - 1; part >= 0; --part) update_class(part);
    }
    return costs_;
  }

 private:
  void add(int part, std::size_t sample) {
    if (part != kNoPart) of_part_[static_cast<std::size_t>(part)].push_back(sample);
  }
  [[nodiscard]] int level(std::size_t sample) const {
    return level_class(table_.classes()[parts_[sample].pair_class].level);
  }

  void start() {
    const double q = kind_.start == FitStart::fastest ? kFastQuantile : 0.5;
    for (int part = 0; part < table_.classes().count(); ++part) {
      const bool is_level = table_.classes()[part].parent < 0;
      const std::vector<double> of_class = costs_of(part);
      if (of_class.size() < (is_level ? 1 : kFewestOfClass)) continue;
      costs_.of_part[static_cast<std::size_t>(part)] = quantile(of_class, q);
    }
    if (kind_.start != FitStart::fastest || !kind_.has_ends) return;
    for (int part = table_.first_host(); part < table_.count(); ++part) {
      const std::vector<double> of_host = costs_of(part);
      if (of_host.size() < kFewestOfEnd) continue;
      costs_.of_part[static_cast<std::size_t>(part)] = *std::min_element(of_host.begin(), of_host.end());
    }
  }
  [[nodiscard]] std::vector<double> costs_of(int part) const {
    std::vector<double> costs;
    for (const std::size_t i : of_part_[static_cast<std::size_t>(part)]) costs.push_back(samples_[i].cost);
    return costs;
  }

  // The median error of each level with the parts as they are.
  void measure_scales() {
    std::array<std::vector<double>, kFleetLevels> errors;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      errors[static_cast<std::size_t>(level(i))].push_back(
          relative_error(samples_[i].cost, costs_.of_pair(table_.classes(), parts_[i])));
    }
    for (std::size_t of = 0; of < errors.size(); ++of) {
      if (!errors[of].empty()) scales_[of] = std::max(kMinScale, median(errors[of]));
    }
  }

  void update_end(int part) {
    double& cost = costs_.of_part[static_cast<std::size_t>(part)];
    cost = 0;
    if (of_part_[static_cast<std::size_t>(part)].size() < kFewestOfEnd) return;
    look_at(part, [&](std::size_t i) { return costs_.of_pair(table_.classes(), parts_[i], part); });
    const SegmentChoice best = choose_cost(kind_.rule, views_, 0);
    if (kind_.rule == SegmentRule::sum) {
      cost = best.cost * best.gain / (best.gain + kHalfGain);
    } else if (best.gain > kPartGain) {
      cost = best.cost;
    }
  }

  void update_class(int part) {
    const int parent = table_.classes()[part].parent;
    double& cost = costs_.of_part[static_cast<std::size_t>(part)];
    look_at(part, [&](std::size_t i) -> std::optional<double> {
      if (!decides(part, parts_[i].pair_class)) return std::nullopt;
      return cost_of_ends(parts_[i]);
    });
    if (parent < 0) {
      const SegmentChoice best = choose_cost(kind_.rule, views_, 0);
      if (best.cost > 0) cost = best.cost;
      return;
    }
    cost = 0;
    if (views_.size() < kFewestOfClass) return;
    const SegmentChoice best = choose_cost(kind_.rule, views_, costs_.of_class(table_.classes(), parent));
    if (best.cost > 0 && best.gain > kPartGain) cost = best.cost;
  }
  [[nodiscard]] double cost_of_ends(const PairParts& parts) const {
    double cost = 0;
    for (const int end : parts.ends) {
      if (end != kNoPart) cost = joined_costs(kind_.rule, cost, costs_.of_part[static_cast<std::size_t>(end)]);
    }
    return cost;
  }
  // No class further in has a cost of its own.
  [[nodiscard]] bool decides(int part, int innermost) const {
    for (int of = innermost; of != part; of = table_.classes()[of].parent) {
      if (costs_.of_part[static_cast<std::size_t>(of)] > 0) return false;
    }
    return true;
  }

  // The part's pairs, or evenly many of them; rest: the cost of a pair's other parts, nothing: it is left out.
  template <typename Rest>
  void look_at(int part, const Rest& rest) {
    views_.clear();
    const auto& of_part = of_part_[static_cast<std::size_t>(part)];
    const std::size_t step = 1 + of_part.size() / kMaxOfPart;
    for (std::size_t at = 0; at < of_part.size(); at += step) {
      const std::size_t i = of_part[at];
      const std::optional<double> of_others = rest(i);
      const double unit = scales_.at(static_cast<std::size_t>(level(i)));
      if (of_others) views_.push_back({samples_[i].cost, *of_others, samples_[i].weight / unit});
    }
  }

  const PartTable& table_;
  std::span<const CostSample> samples_;
  FitKind kind_;
  SegmentCosts costs_;
  std::vector<PairParts> parts_;                   // by sample
  std::vector<std::vector<std::size_t>> of_part_;  // samples, by part
  std::array<double, kFleetLevels> scales_{1, 1, 1};
  std::vector<SegmentView> views_;
};

}  // namespace

SegmentCosts fit_costs(const PartTable& table, std::span<const CostSample> samples, const FitKind& kind) {
  return Fitter(table, samples, kind).fit();
}

}  // namespace sextant::inline probes
