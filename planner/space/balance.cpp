#include "planner/space/balance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sextant/error.h"

namespace sextant::inline planner {

LoadWeights load_weights_of(const Task& task, const Execution& execution, const Workflow& workflow,
                            const Cluster& cluster, const SortedLengths& sorted) {
  LoadWeights weights;
  const bool is_generation = task.kind == TaskKind::generation;
  for (int d = 0; d < cluster.device_count(); ++d) {
    const DeviceType& type = cluster.type_of(DeviceId{d});
    weights.speeds.push_back(is_generation ? type.memory_bytes_per_s.value
                                           : type.flop_per_s.at(workflow.precision).value);
  }
  const Model& model = workflow.model_of(task);
  if (is_generation) return weights;
  weights.head_layers = model.head_parameters() / model.layer_active_parameters();
  if (!sorted.is_fixed()) weights.lengths = &sorted;
  weights.is_packed = execution.packed;
  return weights;
}

std::vector<int> dealt_by(const std::vector<double>& weights, int total, double of_last) {
  SEXTANT_CHECK(total >= static_cast<int>(weights.size()));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::size_t last = weights.size() - 1;
  // If the extra work of the last part exceeds its share, it gets the minimum of one.
  const double due_of_last = weights[last] / sum * (total + of_last) - of_last;
  const double share_of_last = std::max(1.0, due_of_last);
  const double of_others = of_last > 0 ? (total - share_of_last) / (sum - weights[last]) : total / sum;
  std::vector<int> parts;
  parts.reserve(weights.size());
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto share = [&](std::size_t part) {
    return of_last > 0 && part == last ? share_of_last : weights[part] * of_others;
  };
  for (const std::size_t part : order) parts.push_back(std::max(1, static_cast<int>(share(part))));
  // The missing amount of a part; negative if the minimum of one exceeds its share.
  const auto lack = [&](std::size_t part) { return share(part) - parts[part]; };
  int left = total - std::accumulate(parts.begin(), parts.end(), 0);
  if (left > 0) {  // less than one per part
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lack(a) > lack(b); });
    for (int p = 0; p < left; ++p) ++parts[order[static_cast<std::size_t>(p)]];
    return parts;
  }
  const auto keeps = [&](std::size_t a, std::size_t b) {
    return lack(a) != lack(b) ? lack(a) > lack(b) : a > b;
  };
  std::erase_if(order, [&](std::size_t part) { return parts[part] == 1; });
  std::make_heap(order.begin(), order.end(), keeps);
  for (; left < 0; ++left) {
    std::pop_heap(order.begin(), order.end(), keeps);
    if (--parts[order.back()] == 1) {
      order.pop_back();
    } else {
      std::push_heap(order.begin(), order.end(), keeps);
    }
  }
  return parts;
}

namespace {

// Replicas with the same rank.
struct LengthRank {
  std::vector<std::size_t> replicas;
  double rate = 0;  // sum over the replicas
};

std::vector<LengthRank> ranks_of(const std::vector<double>& rates, bool shares) {
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rates[a] < rates[b]; });
  std::vector<LengthRank> ranks;
  for (const std::size_t replica : order) {
    const bool joins = shares && !ranks.empty() && rates[ranks.back().replicas.front()] == rates[replica];
    if (!joins) ranks.emplace_back();
    ranks.back().replicas.push_back(replica);
    ranks.back().rate += rates[replica];
  }
  return ranks;
}

// Ends of the ranks' ranges of the batch if each takes what it can process in `time`, with at least one
// sequence per replica. The end of the last range shows whether `time` suffices.
std::vector<int> ends_within(double time, const std::vector<LengthRank>& ranks, const SortedLengths& lengths,
                             bool is_packed) {
  const auto cost = [&](int first, int last) {
    return is_packed ? lengths.tokens(first, last) : (last - first) * lengths.longest(last);
  };
  int later = 0;  // replicas
  for (const LengthRank& rank : ranks) later += static_cast<int>(rank.replicas.size());
  std::vector<int> ends;
  int first = 0;
  for (const LengthRank& rank : ranks) {
    const int members = static_cast<int>(rank.replicas.size());
    later -= members;
    int low = first + members, high = lengths.sequences() - later;
    while (low < high) {
      const int middle = high - (high - low) / 2;
      if (cost(first, middle) <= time * rank.rate) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    ends.push_back(first = low);
  }
  return ends;
}

}  // namespace

LengthSplit dealt_by_length(const std::vector<double>& rates, const SortedLengths& lengths, bool is_packed) {
  SEXTANT_CHECK(lengths.sequences() >= static_cast<int>(rates.size()));
  const std::vector<LengthRank> ranks = ranks_of(rates, is_packed);
  constexpr int kHalvings = 40;
  const int all = lengths.sequences();
  double minimum = 0, maximum = all * lengths.longest(all) / ranks.front().rate;  // the slowest alone
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (minimum + maximum) / 2;
    (ends_within(middle, ranks, lengths, is_packed).back() < all ? minimum : maximum) = middle;
  }
  std::vector<int> ends = ends_within(maximum, ranks, lengths, is_packed);
  LengthSplit deal{std::vector<int>(rates.size()), std::vector<int>(rates.size())};
  int first = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::vector<int> shares = dealt_evenly(ends[r] - first, static_cast<int>(ranks[r].replicas.size()));
    for (std::size_t m = 0; m < shares.size(); ++m) {
      deal.sequences[ranks[r].replicas[m]] = shares[m];
      deal.ranks[ranks[r].replicas[m]] = static_cast<int>(r);
    }
    first = ends[r];
  }
  return deal;
}

Shape balanced(const Shape& shape, const std::vector<std::vector<StageTime>>& replicas) {
  const std::size_t pp = shape.layers.size();
  const auto time_s = [&](const std::vector<StageTime>& replica, std::size_t stage, int layers) {
    return replica[stage].time_s + (layers - shape.layers[stage]) * replica[stage].layer_s;
  };
  const auto slowest_s = [&](std::size_t stage, int layers) {
    double slowest = 0;
    for (const std::vector<StageTime>& replica : replicas)
      slowest = std::max(slowest, time_s(replica, stage, layers));
    return slowest;
  };
  // Adds layers one by one to the stage that is then the fastest, which minimises the maximum.
  Shape dealt = shape;
  dealt.layers.assign(pp, 1);
  std::vector<double> next_s;
  for (std::size_t stage = 0; stage < pp; ++stage) next_s.push_back(slowest_s(stage, 2));
  const int total = std::accumulate(shape.layers.begin(), shape.layers.end(), 0);
  for (int layer = static_cast<int>(pp); layer < total; ++layer) {
    const auto stage =
        static_cast<std::size_t>(std::min_element(next_s.begin(), next_s.end()) - next_s.begin());
    next_s[stage] = slowest_s(stage, ++dealt.layers[stage] + 1);
  }
  const auto replica_s = [&](std::size_t replica, const std::vector<int>& layers) {
    double slowest = 0;
    for (std::size_t stage = 0; stage < pp; ++stage)
      slowest = std::max(slowest, time_s(replicas[replica], stage, layers[stage]));
    return slowest;
  };
  double before_s = 0, after_s = 0, all_rates = 0;
  std::vector<double> rates;  // sequences per second
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const double dealt_s = replica_s(i, dealt.layers);
    before_s = std::max(before_s, replica_s(i, shape.layers));
    after_s = std::max(after_s, dealt_s);
    rates.push_back(shape.sequences[i] / dealt_s);
    all_rates += rates.back();
  }
  if (!std::isfinite(all_rates)) return shape;  // a replica without any work
  if (shape.length_ranks.empty()) {
    const int sequences = std::accumulate(shape.sequences.begin(), shape.sequences.end(), 0);
    dealt.sequences = dealt_by(rates, sequences);
    after_s = sequences / all_rates;
  }
  constexpr double kWorthwhile = 0.995;
  return after_s < kWorthwhile * before_s ? dealt : shape;
}

Shape balanced(const Shape& shape, DeviceOrder order, const std::vector<std::uint16_t>& devices,
               const LoadWeights& weights, LoadSplit dealing) {
  if (dealing == LoadSplit::evenly) return shape;
  const std::vector<std::uint16_t> places = placed(shape, 0, order, devices).devices;
  const std::size_t dp = shape.sequences.size(), pp = shape.layers.size();
  const auto tp = static_cast<std::size_t>(shape.tensor_parallel);
  // The speeds by replica, then stage.
  std::vector<double> speed(dp * pp, std::numeric_limits<double>::infinity());
  for (std::size_t at = 0; at < places.size(); ++at)
    speed[at / tp] = std::min(speed[at / tp], weights.speeds[places[at]]);
  const double head_layers = pp > 1 && dealing == LoadSplit::by_speed_and_head ? weights.head_layers : 0;
  const bool is_alike = std::all_of(speed.begin(), speed.end(), [&](double of) { return of == speed.front(); });
  const bool by_length = dealing == LoadSplit::by_length && weights.lengths != nullptr && dp > 1;
  if (is_alike && head_layers == 0 && !by_length) return shape;
  std::vector<double> slowest(pp, std::numeric_limits<double>::infinity());
  for (std::size_t at = 0; at < speed.size(); ++at) slowest[at % pp] = std::min(slowest[at % pp], speed[at]);
  Shape dealt = shape;
  const auto is_even = [](const std::vector<double>& of_parts) {
    return std::all_of(of_parts.begin(), of_parts.end(), [&](double of) { return of == of_parts.front(); });
  };
  if (!is_even(slowest) || head_layers > 0)
    dealt.layers = dealt_by(slowest, std::accumulate(shape.layers.begin(), shape.layers.end(), 0), head_layers);
  std::vector<double> rates;  // of replicas
  for (std::size_t i = 0; i < dp; ++i) {
    double rate = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < pp; ++j)
      rate = std::min(rate, speed[i * pp + j] / (dealt.layers[j] + (j + 1 == pp ? head_layers : 0)));
    rates.push_back(rate);
  }
  if (by_length) {
    LengthSplit deal = dealt_by_length(rates, *weights.lengths, weights.is_packed);
    const bool has_ranks = *std::max_element(deal.ranks.begin(), deal.ranks.end()) > 0;
    dealt.sequences = std::move(deal.sequences);
    if (has_ranks) dealt.length_ranks = std::move(deal.ranks);
  } else if (!is_even(rates)) {
    dealt.sequences = dealt_by(rates, std::accumulate(shape.sequences.begin(), shape.sequences.end(), 0));
  }
  return dealt;
}

}  // namespace sextant::inline planner
