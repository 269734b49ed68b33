#include "probes/collective/collective_probe.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "core/units.h"
#include "probes/collective/group_point.h"

namespace sextant::inline probes {
namespace {

// The rest is left to the library's own buffers and to others.
constexpr double kMemoryShare = 0.4;
constexpr std::array kKinds = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                               CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                               CollectiveKind::all_to_all,     CollectiveKind::send_receive};

// The bytes that the buffers of every rank may use: the minimum of all ranks.
double common_room_bytes(Communicator& world, const Collectives& collectives) {
  std::array<double, 1> minimum = {-kMemoryShare * collectives.free_bytes()};
  world.all_reduce_max(std::span<double>(minimum));
  return -minimum[0];
}

// Rank 0's clock decides for all.
class Budget {
 public:
  Budget(Communicator& world, double budget_s, const CollectiveOptions& options, const Clock& clock)
      : world_(world),
        budget_s_(budget_s),
        clock_(clock),
        end_s_(clock.now_s() + budget_s_),
        should_stop_(options.should_stop) {}
  [[nodiscard]] bool is_over() {
    if (world_.rank() == 0 && should_stop_ && should_stop_()) has_stopped_ = true;
    return from_leader(world_, has_stopped_ || clock_.now_s() >= end_s_ ? 1 : 0) != 0;
  }
  [[nodiscard]] ProbeResult waived(const std::string& name) const {
    return waived_result(
        name, "s", has_stopped_ ? "interrupted" : "the " + format_seconds(budget_s_) + " for it were over");
  }

 private:
  Communicator& world_;
  double budget_s_;
  const Clock& clock_;
  double end_s_;
  std::function<bool()> should_stop_;
  bool has_stopped_ = false;
};

// The user's budget is meant for this many turns; a job whose hosts need more rounds gets more.
constexpr double kTurnsOfABudget = 50;

double pair_budget_s(const PairTurns& turns, const CollectiveOptions& options) {
  return options.total_budget_s * std::max(1.0, static_cast<double>(turns.first_count()) / kTurnsOfABudget);
}

ProbeResult late_pairs(const Collectives& collectives, const Budget& budget, std::size_t measured,
                       std::size_t all) {
  ProbeResult result = budget.waived(collectives.name() + "/pair");
  result.sentence += " after " + std::to_string(measured) + " of " + std::to_string(all) + " pairs";
  return result;
}

std::string result_name(const Collectives& collectives, const CollectiveShape& shape) {
  return collectives.name() + "/" + std::string(name_of(shape.kind)) + "/" +
         std::to_string(shape.elements() * sizeof(float));
}

std::string how(const Collectives& collectives, const CollectiveShape& shape) {
  return collectives.description() + ", slowest of " + std::to_string(shape.ranks) + " ranks" +
         (shape.buffers() == 1 ? ", in place" : "");
}

ProbeResult bandwidth(const ProbeResult& time, const std::string& what, double factor) {
  ProbeResult result = time;
  result.name += what;
  result.unit = "bytes/s";
  result.value = factor * time.work / time.value;
  result.samples_s.clear();  // they are with the time
  return result;
}

// Round trips of all sizes between the pairs of one turn at a time.
class PairProbe {
 public:
  PairProbe(Communicator& world, Collectives& collectives, const CollectiveOptions& options, const Clock& clock)
      : world_(world),
        collectives_(collectives),
        options_(options),
        points_(options.sampling, clock),
        room_bytes_(common_room_bytes(world, collectives)) {}

  // Collective; gives the results of the pair whose lower rank this is.
  std::vector<ProbeResult> measure(const std::vector<RankPair>& turn) {
    const auto mine = std::find_if(turn.begin(), turn.end(), [this](const RankPair& pair) {
      return pair.low == world_.rank() || pair.high == world_.rank();
    });
    if (options_.on_point) options_.on_point(collectives_.name() + "/pair");
    const auto pair =
        world_.split(mine == turn.end() ? -1 : static_cast<int>(mine - turn.begin()), world_.rank());
    std::vector<ProbeResult> led;
    for (const std::size_t bytes : options_.pair_bytes) {
      if (!pair || static_cast<double>(bytes) > room_bytes_) break;
      ProbeResult result = measure(*pair, *mine, bytes);
      if (pair->rank() == 0) led.push_back(std::move(result));
    }
    world_.wait_quietly();
    return led;
  }

 private:
  ProbeResult measure(Communicator& pair, const RankPair& ranks, std::size_t bytes) {
    const int peer = ranks.low == world_.rank() ? ranks.high : ranks.low;
    ProbeResult result =
        points_.measure(pair, collectives_.name() + "/pair/" + std::to_string(bytes), 0.5,
                        [&] { return collectives_.prepare_round_trip(peer, bytes); }, {ranks.low, ranks.high});
    result.work = static_cast<double>(bytes);
    result.how = collectives_.description() + ", half a round trip";
    result.rank = world_.rank();
    result.peer = peer;
    return result;
  }

  Communicator& world_;
  Collectives& collectives_;
  const CollectiveOptions& options_;
  GroupPoints points_;
  double room_bytes_;
};

}  // namespace

std::vector<ProbeResult> measure_collectives(Communicator& world, Collectives& collectives,
                                             const CollectiveOptions& options, const Clock& clock) {
  if (world.size() == 1) {
    return {waived_result(collectives.name(), "s",
                          "there is only one rank, so there is nobody to exchange anything with")};
  }
  std::vector<ProbeResult> results;
  GroupPoints points(options.sampling, clock);
  Budget budget(world, options.total_budget_s, options, clock);
  const double room_bytes = common_room_bytes(world, collectives);
  for (const CollectiveKind kind : kKinds) {
    const double fits = room_bytes / shape_of(kind, world.size(), room_bytes).buffers();
    const double max_bytes = std::min(options.max_bytes, fits);
    const auto shapes = options.sizes_bytes.empty()
                            ? collective_shapes(kind, world.size(), max_bytes)
                            : shapes_of(kind, world.size(), options.sizes_bytes, max_bytes);
    for (const CollectiveShape& shape : shapes) {
      const std::string name = result_name(collectives, shape);
      if (budget.is_over()) {
        results.push_back(budget.waived(name));
        continue;
      }
      if (options.on_point) options.on_point(name);
      results.push_back(points.measure(world, name, 1, [&] { return collectives.prepare(shape); }));
      results.back().work = shape.bytes();
      results.back().how = how(collectives, shape);
    }
  }
  if (world.rank() != 0) results.clear();
  return results;
}

std::vector<ProbeResult> measure_pairs(Communicator& world, Collectives& collectives,
                                       const CollectiveOptions& options, const Clock& clock) {
  std::vector<ProbeResult> led;
  if (world.size() == 1) return led;
  PairProbe probe(world, collectives, options, clock);
  const PairTurns turns(world.hosts(), options.kind_of_pair);
  Budget budget(world, pair_budget_s(turns, options), options, clock);
  std::size_t measured = 0;
  for (std::size_t index = 0; index < turns.count(); ++index) {
    if (budget.is_over() && index >= turns.min_count()) {
      if (world.rank() == 0) led.push_back(late_pairs(collectives, budget, measured, turns.pair_count()));
      break;
    }
    std::vector<RankPair> turn = turns.turn(index);
    measured += turn.size();
    std::erase_if(turn, [&](const RankPair& pair) { return options.steps.done_pairs.contains(pair); });
    if (turn.empty()) continue;
    std::vector<ProbeResult> mine = probe.measure(turn);
    if (options.steps.on_turn) options.steps.on_turn(mine);
    append(led, std::move(mine));
    if (options.steps.is_told_to_stop && options.steps.is_told_to_stop()) break;
  }
  return led;
}

std::vector<ProbeResult> derive_bandwidths(const std::vector<ProbeResult>& results, int ranks) {
  std::vector<ProbeResult> derived;
  for (const ProbeResult& result : results) {
    if (!result.has_value() || result.peer >= 0) continue;
    for (const CollectiveKind kind : kKinds) {
      if (result.name.find("/" + std::string(name_of(kind)) + "/") == std::string::npos) continue;
      derived.push_back(bandwidth(result, "/algorithm_bandwidth", 1));
      derived.push_back(bandwidth(result, "/bus_bandwidth", bus_factor(kind, ranks)));
    }
  }
  return derived;
}

}  // namespace sextant::inline probes
