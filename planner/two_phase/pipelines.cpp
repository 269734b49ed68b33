#include "planner/two_phase/pipelines.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "planner/request/shapes.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

constexpr double kMaxIdle = 0.25;  // of the arithmetic of the types that take part
constexpr std::size_t kMaxTypesMixed = 4;

// A tensor-parallel group: devices of one machine.
using Slot = std::vector<DeviceId>;

// The slots of all pieces: as many as fit into each.
std::vector<Slot> slots_of(const TypePool& pool, int tensor_parallel) {
  std::vector<Slot> slots;
  const auto width = static_cast<std::size_t>(tensor_parallel);
  for (const std::vector<DeviceId>& piece : pool.pieces) {
    for (std::size_t first = 0; first + width <= piece.size(); first += width) {
      const auto begin = piece.begin() + static_cast<std::ptrdiff_t>(first);
      slots.emplace_back(begin, begin + tensor_parallel);
    }
  }
  return slots;
}

class Enumeration {
 public:
  Enumeration(const std::vector<TypePool>& pools, const Model& model, const PipelineLimits& limits)
      : pools_(pools), model_(model), limits_(limits) {
    slots_by_width_.resize(pools.size());
  }

  std::vector<std::vector<Replica>> run() {
    // Subsets of types: of many types only single ones and all together.
    const std::size_t all = (std::size_t{1} << pools_.size()) - 1;
    for (std::size_t subset = 1; subset <= all; ++subset) {
      const bool is_single = (subset & (subset - 1)) == 0;
      if (pools_.size() > kMaxTypesMixed && !is_single && subset != all) continue;
      types_.clear();
      for (std::size_t t = 0; t < pools_.size(); ++t) {
        if ((subset >> t & 1U) != 0) types_.push_back(t);
      }
      widths_.assign(types_.size(), 1);
      choose_width(0);
    }
    return std::move(found_);
  }

 private:
  void choose_width(std::size_t at) {
    if (at == types_.size()) return choose_replicas();
    std::size_t largest = 0;
    for (const auto& piece : pools_[types_[at]].pieces) largest = std::max(largest, piece.size());
    const int maximum = std::min(limits_.tensor_parallel_limit, static_cast<int>(largest));
    for (int width = 1; width <= maximum; ++width) {
      if (!can_cut(model_, width)) continue;
      widths_[at] = width;
      choose_width(at + 1);
    }
  }

  void choose_replicas() {
    std::vector<const std::vector<Slot>*> slots;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < types_.size(); ++i) {
      auto& known = slots_by_width_[types_[i]];
      const auto [entry, is_new] = known.try_emplace(widths_[i]);
      if (is_new) entry->second = slots_of(pools_[types_[i]], widths_[i]);
      slots.push_back(&entry->second);
      fewest = std::min(fewest, entry->second.size());
    }
    const int maximum = std::min(limits_.max_replicas, static_cast<int>(fewest));
    // If many numbers of replicas give the same number of stages, only those that use the most devices, and
    // whole machines.
    constexpr int kFew = 64;
    constexpr int kWhole = 8;  // devices of most machines
    for (int replicas = 1; replicas <= maximum; ++replicas) {
      const bool is_most = replicas == maximum || stages_of(slots, replicas) != stages_of(slots, replicas + 1);
      if (replicas <= kFew || is_most || replicas % kWhole == 0) add(slots, replicas);
    }
  }

  [[nodiscard]] static std::vector<int> stages_of(const std::vector<const std::vector<Slot>*>& slots,
                                                  int replicas) {
    std::vector<int> stages;
    stages.reserve(slots.size());
    for (const std::vector<Slot>* of_type : slots)
      stages.push_back(static_cast<int>(of_type->size()) / replicas);
    return stages;
  }

  // Stages of each type: as many as its slots allow.
  void add(const std::vector<const std::vector<Slot>*>& slots, int replicas) {
    const std::vector<int> stages = stages_of(slots, replicas);
    double used = 0, all = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const TypePool& pool = pools_[types_[i]];
      used += pool.flop_per_s * replicas * stages[i] * widths_[i];
      for (const auto& piece : pool.pieces) all += pool.flop_per_s * static_cast<double>(piece.size());
    }
    const int depth = std::accumulate(stages.begin(), stages.end(), 0);
    if (depth > model_.layers || used < (1 - kMaxIdle) * all) return;
    std::vector<double> speeds;
    for (std::size_t i = 0; i < slots.size(); ++i)
      speeds.insert(speeds.end(), static_cast<std::size_t>(stages[i]),
                    widths_[i] * pools_[types_[i]].flop_per_s);
    const std::vector<int> layers = layers_by_speed(model_.layers, speeds);
    const bool has_two_orders = replicas > 1 && depth > 1;
    for (const bool by_stage : {false, true}) {
      if (by_stage && !has_two_orders) continue;
      found_.push_back(laid_out(slots, stages, layers, replicas, by_stage));
    }
  }

  // by_stage: of each type the replicas of a stage lie side by side, else the stages of a replica.
  [[nodiscard]] std::vector<Replica> laid_out(const std::vector<const std::vector<Slot>*>& slots,
                                              const std::vector<int>& stages, const std::vector<int>& layers,
                                              int replicas, bool by_stage) const {
    std::vector<Replica> all(static_cast<std::size_t>(replicas), Replica{1.0 / replicas, {}});
    for (int r = 0; r < replicas; ++r) {
      std::size_t stage = 0;
      for (std::size_t i = 0; i < slots.size(); ++i) {
        for (int s = 0; s < stages[i]; ++s) {
          const int slot = by_stage ? s * replicas + r : r * stages[i] + s;
          all[static_cast<std::size_t>(r)].stages.push_back(
              {layers[stage++], (*slots[i])[static_cast<std::size_t>(slot)]});
        }
      }
    }
    return all;
  }

  const std::vector<TypePool>& pools_;
  const Model& model_;
  const PipelineLimits& limits_;
  std::vector<std::map<int, std::vector<Slot>>> slots_by_width_;  // by type
  std::vector<std::size_t> types_;                                // that take part
  std::vector<int> widths_;                                       // of them
  std::vector<std::vector<Replica>> found_;
};

}  // namespace

std::vector<TypePool> type_pools(const Cluster& cluster, const std::vector<DeviceId>& devices,
                                 Precision precision) {
  std::map<std::string, TypePool> by_name;
  for (const PieceClass& of_class : pieces_of(cluster, devices)) {
    const DeviceId first = of_class.pieces.front().front();
    TypePool& pool = by_name[cluster.type_name(first)];
    pool.flop_per_s = cluster.type_of(first).flop_per_s.at(precision).value;
    pool.pieces.insert(pool.pieces.end(), of_class.pieces.begin(), of_class.pieces.end());
  }
  std::vector<TypePool> pools;
  for (auto& [name, pool] : by_name) {
    std::sort(pool.pieces.begin(), pool.pieces.end());
    pools.push_back(std::move(pool));
  }
  std::stable_sort(pools.begin(), pools.end(),
                   [](const TypePool& a, const TypePool& b) { return a.flop_per_s > b.flop_per_s; });
  return pools;
}

std::vector<std::vector<Replica>> pipelines_of(const std::vector<TypePool>& pools, const Model& model,
                                               const PipelineLimits& limits) {
  return Enumeration(pools, model, limits).run();
}

std::vector<int> layers_by_speed(int layers, const std::vector<double>& speeds) {
  const int stages = static_cast<int>(speeds.size());
  SEXTANT_CHECK(layers >= stages);
  const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<int> dealt(speeds.size(), 1);
  std::vector<double> wanted;
  wanted.reserve(speeds.size());
  for (const double speed : speeds) wanted.push_back(layers * speed / sum);
  // One after the other to the stage that lacks the most of what it should have.
  for (int left = layers - stages; left > 0; --left) {
    std::size_t maximum = 0;
    for (std::size_t s = 1; s < dealt.size(); ++s) {
      if (wanted[s] - dealt[s] > wanted[maximum] - dealt[maximum] + 1e-9) maximum = s;
    }
    ++dealt[maximum];
  }
  return dealt;
}

}  // namespace sextant::inline planner
