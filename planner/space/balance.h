// HetRL's load balancing (section 4.2) as an estimate before any costing: layers and sequences in proportion to
// the speed of the devices for the task. Moves of single layers and sequences (sha_ea/polish.h) then find the
// improvements that the cost model sees.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "documents/sorted_lengths.h"
#include "planner/evaluate/task_model.h"
#include "planner/space/device_order.h"
#include "sextant/cluster.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

// The weights by which a task's load is split.
struct LoadWeights {
  // Speeds by device, in any unit: FLOP/s at the workflow's precision; for generation bytes/s of memory.
  std::vector<double> speeds;
  // Extra work of the last stage, in layers: the vocabulary's head. Zero for generation: its head is considered
  // when loads are split by cost, and plans with sets of whole units do not improve with it.
  double head_layers = 0;
  // The batch by length, if its sequences exist before the task runs and differ in length; otherwise null.
  const SortedLengths* lengths = nullptr;
  bool is_packed = false;  // a sequence costs its own length, not the maximum of its replica
};
// sorted: of the workflow; the result may point to it.
[[nodiscard]] LoadWeights load_weights_of(const Task& task, const Execution& execution,
                                          const Workflow& workflow, const Cluster& cluster,
                                          const SortedLengths& sorted);

// Splits `total` into parts of at least one, as nearly in proportion to `weights` as integers allow (largest
// remainders first, on ties the earlier); the last part has `of_last` additional work. Requires total >= number
// of parts and weights > 0.
[[nodiscard]] std::vector<int> dealt_by(const std::vector<double>& weights, int total, double of_last = 0);

struct LengthSplit {
  std::vector<int> sequences, ranks;  // by replica
};

// Splits sequences by length: a slower replica gets shorter ones, and so many that all replicas end at the same
// time, up to whole sequences. Packed replicas of the same rate share a range of lengths. Requires rates > 0,
// and no more rates than sequences.
[[nodiscard]] LengthSplit dealt_by_length(const std::vector<double>& rates, const SortedLengths& lengths,
                                          bool is_packed);

// The methods of splitting layers and sequences. The head is an estimate, because only the cost model knows its
// speed. by_length: layers by speed, sequences by length. by_cost: starts from another split and uses the cost
// model's times of its stages.
enum class LoadSplit { evenly, by_speed, by_speed_and_head, by_length, by_cost };
// The methods that need no costs.
inline constexpr std::array kLoadSplits{LoadSplit::evenly, LoadSplit::by_speed, LoadSplit::by_speed_and_head,
                                        LoadSplit::by_length};

// Splits the load. A stage is as fast as its slowest device in any replica, a replica as its slowest stage with
// its new layers. The shape stays if speeds are equal, there is no head, and lengths are not used.
[[nodiscard]] Shape balanced(const Shape& shape, DeviceOrder order, const std::vector<std::uint16_t>& devices,
                             const LoadWeights& weights, LoadSplit dealing);

// Splits layers to minimise the time of the slowest stage in any replica, with the stages' times per additional
// layer; then sequences by the replicas' new times, unless replicas have length ranks. Returns the shape
// unchanged if the gain is negligible. replicas: of the shape, by stage.
[[nodiscard]] Shape balanced(const Shape& shape, const std::vector<std::vector<StageTime>>& replicas);

}  // namespace sextant::inline planner
