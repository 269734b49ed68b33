#include "reports/export/trainers/replica_shape.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "reports/export/trainers/trainer_config.h"

namespace sextant::inline reports {

int layers_of(const Replica& replica) {
  return std::accumulate(replica.stages.begin(), replica.stages.end(), 0,
                         [](int sum, const Stage& stage) { return sum + stage.layers; });
}

ReplicaShape common_shape(const TaskPlan& task, int devices, int max_stages) {
  std::map<ReplicaShape, int> weight;
  int width = 0;
  for (const Replica& replica : task.replicas) {
    const ReplicaShape shape{replica.pipeline_parallel(), replica.stages.front().width()};
    const bool is_even = std::all_of(replica.stages.begin(), replica.stages.end(),
                                     [&](const Stage& stage) { return stage.width() == shape.width; });
    for (const Stage& stage : replica.stages) width = std::gcd(width, stage.width());
    if (is_even && devices % shape.devices() == 0 && (max_stages == 0 || shape.stages <= max_stages))
      weight[shape] += shape.devices();
  }
  if (weight.empty()) return {1, std::gcd(width, devices)};
  return std::max_element(weight.begin(), weight.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::vector<int> allowed_stages(const std::vector<int>& layers, StageRule rule) {
  const int total = std::accumulate(layers.begin(), layers.end(), 0);
  const int stages = static_cast<int>(layers.size());
  if (rule == StageRule::differ_by_one) return dealt_stages(total, stages, rule);
  if (rule != StageRule::even_but_ends || stages == 1) return layers;
  const bool is_allowed = stages == 2 || std::all_of(layers.begin() + 1, layers.end() - 1,
                                                     [&](int count) { return count == layers[1]; });
  if (is_allowed) return layers;
  std::vector<int> best;
  for (const int inner : {total / stages, total / stages + 1}) {
    const int ends = total - inner * (stages - 2);
    if (ends < 2) continue;
    std::vector<int> split(static_cast<std::size_t>(stages), inner);
    split.front() = ends / 2;
    split.back() = ends - ends / 2;
    if (best.empty() ||
        *std::max_element(split.begin(), split.end()) < *std::max_element(best.begin(), best.end()))
      best = split;
  }
  return best.empty() ? even_stages(total, stages) : best;
}

}  // namespace sextant::inline reports
