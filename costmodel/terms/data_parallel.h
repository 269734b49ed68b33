// Data-parallel communication (HetRL B.2 "Data parallelism communication").
//
//   cv_dp(t,j,k) = B * nl_j * (4 h1^2 + 3 h1 h2) * 2 (n - 1) / (n * TP_j),   n replicas
//   C_dp(t,j,k) = min_ring max_edge (alpha + cv_dp / beta),   C_dp^t = max over j, k
//
// once a mini-batch. The stages' own parameters include embedding and head. Where replicas are cut into
// different stages the layers are grouped into segments that no replica cuts; shard k of a segment is
// reduced over the device that holds it in each replica (shard floor(k TP_i / TP_max) where degrees
// differ), its size that of the largest shard, and a device pays for all segments it holds one after
// another. With equal stages a segment is a stage and this is the appendix.
#pragma once

#include <vector>

#include "costmodel/problem.h"
#include "costmodel/terms/collective.h"

namespace sextant::terms {

// Layers [first, first + layers) that lie in one stage of every replica.
struct Segment {
  int first = 0;
  int layers = 0;
  std::vector<int> stage_of;  // by replica
};

[[nodiscard]] std::vector<Segment> common_segments(const TaskPlan& plan);

// Parameters of a segment over all shards, with the embedding and head at the ends.
[[nodiscard]] double segment_parameters(const Segment& segment, const Model& model, bool is_first,
                                        bool is_last);

template <typename T>
[[nodiscard]] T data_parallel_s(const Problem<T>& problem, const TaskWork& task) {
  const TaskPlan& plan = *task.plan;
  const double replicas = plan.data_parallel();
  if (plan.data_parallel() < 2) return T(0.0);
  const T& efficiency = problem.coefficient(CoefficientId::data_parallel_efficiency);
  const std::vector<Segment> segments = common_segments(plan);
  T slowest(0.0);
  T stage_sum(0.0);  // of the segments in the current stage of the first replica
  for (std::size_t g = 0; g < segments.size(); ++g) {
    const Segment& segment = segments[g];
    if (g > 0 && segment.stage_of != segments[g - 1].stage_of) {
      // A device pays for every segment of its stage: keep adding while any replica stays in the same stage.
      bool same_stage_somewhere = false;
      for (std::size_t i = 0; i < segment.stage_of.size(); ++i) {
        same_stage_somewhere = same_stage_somewhere || segment.stage_of[i] == segments[g - 1].stage_of[i];
      }
      if (!same_stage_somewhere) stage_sum = T(0.0);
    }
    std::vector<const Stage*> stages;
    std::size_t most_shards = 1, fewest_shards = 0;
    for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
      stages.push_back(&plan.replicas[i].stages[static_cast<std::size_t>(segment.stage_of[i])]);
      most_shards = std::max(most_shards, stages.back()->devices.size());
      fewest_shards =
          i == 0 ? stages.back()->devices.size() : std::min(fewest_shards, stages.back()->devices.size());
    }
    const double volume = task.element_bytes *
                          segment_parameters(segment, *task.model, g == 0, g + 1 == segments.size()) * 2.0 *
                          (replicas - 1.0) / (replicas * static_cast<double>(fewest_shards));
    T segment_s(0.0);
    for (std::size_t k = 0; k < most_shards; ++k) {
      std::vector<DeviceId> members;
      for (const Stage* stage : stages)
        members.push_back(stage->devices[k * stage->devices.size() / most_shards]);
      const T cost = ring_step_s(problem, std::span<const DeviceId>(members), volume, efficiency);
      if (segment_s < cost) segment_s = cost;
    }
    stage_sum += segment_s;
    if (slowest < stage_sum) slowest = stage_sum;
  }
  return task.mini_batches * slowest;
}

}  // namespace sextant::terms
