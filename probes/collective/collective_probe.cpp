#include "probes/collective/collective_probe.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/units.h"
#include "probes/collective/group_point.h"
#include "probes/collective/pair_turns.h"

namespace sextant {
namespace {

// The rest is left to the library's own buffers and to others.
constexpr double kMemoryShare = 0.4;
constexpr std::array kKinds = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                               CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                               CollectiveKind::all_to_all,     CollectiveKind::send_receive};

// What every rank's buffers may take: the least of all.
double common_room_bytes(Communicator& world, const Collectives& collectives) {
  std::array<double, 1> least = {-kMemoryShare * collectives.free_bytes()};
  world.all_reduce_max(std::span<double>(least));
  return -least[0];
}

// Rank 0's clock decides for all.
class Budget {
 public:
  Budget(Communicator& world, const CollectiveOptions& options, const Clock& clock)
      : world_(world),
        budget_s_(options.total_budget_s),
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

}  // namespace

std::vector<ProbeResult> measure_collectives(Communicator& world, Collectives& collectives,
                                             const CollectiveOptions& options, const Clock& clock) {
  if (world.size() == 1) {
    return {waived_result(collectives.name(), "s",
                          "there is only one rank, so there is nobody to exchange anything with")};
  }
  std::vector<ProbeResult> results;
  GroupPoints points(options.sampling, clock);
  Budget budget(world, options, clock);
  const double room_bytes = common_room_bytes(world, collectives);
  for (const CollectiveKind kind : kKinds) {
    const double fits = room_bytes / shape_of(kind, world.size(), room_bytes).buffers();
    const double most_bytes = std::min(options.most_bytes, fits);
    const auto shapes = options.sizes_bytes.empty()
                            ? collective_shapes(kind, world.size(), most_bytes)
                            : shapes_of(kind, world.size(), options.sizes_bytes, most_bytes);
    for (const CollectiveShape& shape : shapes) {
      const std::string name = result_name(collectives, shape);
      if (budget.is_over()) {
        results.push_back(budget.waived(name));
        continue;
      }
      if (world.rank() == 0 && options.on_point) options.on_point(name);
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
  GroupPoints points(options.sampling, clock);
  Budget budget(world, options, clock);
  const double room_bytes = common_room_bytes(world, collectives);
  for (const auto& turn : pair_turns(world.hosts())) {
    const auto mine = std::find_if(turn.begin(), turn.end(), [&](const RankPair& pair) {
      return pair.low == world.rank() || pair.high == world.rank();
    });
    const bool is_late = budget.is_over();
    if (world.rank() == 0 && options.on_point) options.on_point(collectives.name() + "/pair");
    const auto pair =
        world.split(mine == turn.end() ? -1 : static_cast<int>(mine - turn.begin()), world.rank());
    for (const std::size_t bytes : options.pair_bytes) {
      if (!pair || static_cast<double>(bytes) > room_bytes) break;
      const std::string name = collectives.name() + "/pair/" + std::to_string(bytes);
      const int peer = mine->low == world.rank() ? mine->high : mine->low;
      ProbeResult result = is_late ? budget.waived(name)
                                   : points.measure(*pair, name, 0.5,
                                                    [&] { return collectives.prepare_round_trip(peer, bytes); },
                                                    {mine->low, mine->high});
      if (pair->rank() != 0) continue;
      result.work = static_cast<double>(bytes);
      result.how = collectives.description() + ", half a round trip";
      result.rank = world.rank();
      result.peer = peer;
      led.push_back(std::move(result));
    }
    world.wait_quietly();
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

}  // namespace sextant
