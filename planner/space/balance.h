// HetRL's load balancing (section 4.2) as an estimate, before anything is costed: layers and sequences in
// proportion to how fast devices are at the task. What the cost model says better is found by moves of single
// layers and sequences (sha_ea/polish.h).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "documents/sorted_lengths.h"
#include "planner/evaluate/task_model.h"
#include "planner/space/device_order.h"
#include "sextant/cluster.h"
#include "sextant/workflow.h"

namespace sextant {

// What a task's load is dealt by.
struct LoadWeights {
  // By device, in any unit: FLOP/s at the workflow's precision, or of generation bytes/s of memory.
  std::vector<double> speeds;
  // What the last stage computes beside its layers, in layers: the vocabulary's head. Of generation none: it is
  // dealt so by cost, and plans with sets of whole units are no better for it.
  double head_layers = 0;
  // The batch by length, where its sequences are there before the task and differ; else null.
  const SortedLengths* lengths = nullptr;
  bool is_packed = false;  // sequences cost what they have, not what the longest of a replica has
};
// sorted: of the workflow; what is returned may point to it.
[[nodiscard]] LoadWeights load_weights_of(const Task& task, const Execution& execution,
                                          const Workflow& workflow, const Cluster& cluster,
                                          const SortedLengths& sorted);

// `total` in parts of at least one each, as nearly in proportion to `weights` as whole numbers allow (largest
// remainders first, of equals the earlier); the last part has `of_last` besides. total >= number of parts;
// weights > 0.
[[nodiscard]] std::vector<int> dealt_by(const std::vector<double>& weights, int total, double of_last = 0);

struct LengthSplit {
  std::vector<int> sequences, ranks;  // by replica
};

// Sequences by length: the slower a replica, the shorter they are, and as many as it takes for all to be done
// at the same time, in whole sequences. Packed replicas of the same rate share theirs out. rates > 0, no more
// than there are sequences.
[[nodiscard]] LengthSplit dealt_by_length(const std::vector<double>& rates, const SortedLengths& lengths,
                                          bool is_packed);

// How layers and sequences are dealt. The head is an estimate: how fast it is computed says the cost model
// alone. by_length: layers by speed, sequences by length. by_cost: from one of the others on by what the cost
// model says of its stages.
enum class LoadSplit { evenly, by_speed, by_speed_and_head, by_length, by_cost };
// Those that need no costs.
inline constexpr std::array kLoadSplits{LoadSplit::evenly, LoadSplit::by_speed, LoadSplit::by_speed_and_head,
                                        LoadSplit::by_length};

// A stage is as fast as its slowest device in any replica, a replica as its slowest stage with the layers it
// then has. The shape itself where all are equally fast, there is no head, and lengths are of no use.
[[nodiscard]] Shape balanced(const Shape& shape, DeviceOrder order, const std::vector<std::uint16_t>& devices,
                             const LoadWeights& weights, LoadSplit dealing);

// Layers so that the slowest stage of any replica takes as little as can be, as far as stages take longer with
// each layer as they say; then sequences by what replicas do with these, where none has a rank of lengths. The
// shape itself where that would gain next to nothing. replicas: of the shape, by stage.
[[nodiscard]] Shape balanced(const Shape& shape, const std::vector<std::vector<StageTime>>& replicas);

}  // namespace sextant
