#include "sextant/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sextant/error.h"

namespace sextant {
namespace {

// "0-3,8": runs of consecutive devices.
std::string ranges_of(const std::set<DeviceId>& devices) {
  std::string out;
  for (auto first = devices.begin(); first != devices.end();) {
    auto last = first;
    auto next = std::next(first);
    while (next != devices.end() && next->value == last->value + 1) {
      last = next++;
    }
    out += (out.empty() ? "" : ",") + std::to_string(first->value);
    if (last != first) {
      out += "-" + std::to_string(last->value);
    }
    first = next;
  }
  return out;
}

// "4", or "2-4" when the parts differ.
std::string degree(const std::vector<int>& degrees) {
  const auto [minimum, maximum] = std::minmax_element(degrees.begin(), degrees.end());
  return std::to_string(*minimum) + (*minimum == *maximum ? "" : "-" + std::to_string(*maximum));
}

}  // namespace

std::vector<DeviceId> Replica::devices() const {
  std::vector<DeviceId> out;
  for (const Stage& stage : stages) {
    out.insert(out.end(), stage.devices.begin(), stage.devices.end());
  }
  return out;
}

std::set<DeviceId> TaskPlan::devices() const {
  std::vector<DeviceId> all;
  for (const Replica& replica : replicas) {
    for (const Stage& stage : replica.stages) all.insert(all.end(), stage.devices.begin(), stage.devices.end());
  }
  std::sort(all.begin(), all.end());
  return {all.begin(), all.end()};  // in linear time
}

std::vector<Replica> expand_layout(const UniformLayout& layout, int layers) {
  SEXTANT_CHECK(layout.data_parallel >= 1 && layout.pipeline_parallel >= 1 && layout.tensor_parallel >= 1);
  SEXTANT_CHECK(layers >= layout.pipeline_parallel);
  const int base = layers / layout.pipeline_parallel;
  const int remainder = layers % layout.pipeline_parallel;
  std::vector<Replica> replicas(static_cast<std::size_t>(layout.data_parallel));
  for (int number = 0; number < layout.data_parallel; ++number) {
    Replica& replica = replicas[static_cast<std::size_t>(number)];
    replica.batch_share = 1.0 / layout.data_parallel;
    for (int stage = 0; stage < layout.pipeline_parallel; ++stage) {
      replica.stages.push_back({base + (stage < remainder ? 1 : 0), {}});
      const int group = layout.has_stages_outermost ? stage * layout.data_parallel + number
                                                    : number * layout.pipeline_parallel + stage;
      const int first = layout.first.value + group * layout.tensor_parallel;
      for (int shard = 0; shard < layout.tensor_parallel; ++shard)
        replica.stages.back().devices.push_back(DeviceId{first + shard});
    }
  }
  return replicas;
}

std::optional<UniformLayout> uniform_layout(const std::vector<Replica>& replicas) {
  if (replicas.empty() || replicas.front().stages.empty()) return std::nullopt;
  const Replica& first = replicas.front();
  if (first.stages.front().devices.empty()) return std::nullopt;
  UniformLayout layout;
  layout.data_parallel = static_cast<int>(replicas.size());
  layout.pipeline_parallel = first.pipeline_parallel();
  layout.tensor_parallel = first.stages.front().width();
  layout.first = first.stages.front().devices.front();
  int layers = 0;
  for (const Stage& stage : first.stages) layers += stage.layers;
  if (layers < layout.pipeline_parallel) return std::nullopt;
  if (expand_layout(layout, layers) == replicas) return layout;
  layout.has_stages_outermost = true;
  if (expand_layout(layout, layers) == replicas) return layout;
  return std::nullopt;
}

std::vector<int> replica_sequences(const TaskPlan& task, int sequences) {
  double shares = 0;  // 1, but for the digits that a document leaves out
  for (const Replica& replica : task.replicas) {
    shares += replica.batch_share;
  }
  std::vector<int> out;
  std::vector<double> rest;
  out.reserve(task.replicas.size());
  rest.reserve(task.replicas.size());
  int given = 0;
  for (const Replica& replica : task.replicas) {
    const double exact = replica.batch_share / shares * sequences;
    // A share such as 1/3 of 3 may come out a rounding error below the whole number.
    constexpr double kRounding = 1e-6;
    const int whole = std::min(static_cast<int>(std::floor(exact + kRounding)), sequences - given);
    out.push_back(whole);
    rest.push_back(exact - whole);
    given += whole;
  }
  if (given == sequences) return out;
  std::vector<std::size_t> order(out.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&rest](std::size_t a, std::size_t b) { return rest[a] > rest[b]; });
  for (std::size_t i = 0; given < sequences && !order.empty(); ++i, ++given) {
    ++out[order[i % order.size()]];
  }
  return out;
}

std::vector<SequenceRange> length_ranges(const TaskPlan& task, const std::vector<int>& sequences) {
  std::map<int, int> of_rank;
  for (std::size_t i = 0; i < sequences.size(); ++i) of_rank[task.replicas[i].length_rank] += sequences[i];
  std::map<int, SequenceRange> ranges;
  int first = 0;
  for (const auto& [rank, count] : of_rank) {
    ranges[rank] = {first, first + count};
    first += count;
  }
  std::vector<SequenceRange> out;
  out.reserve(task.replicas.size());
  for (const Replica& replica : task.replicas) out.push_back(ranges.at(replica.length_rank));
  return out;
}

bool deals_by_length(const TaskPlan& task) {
  return std::any_of(task.replicas.begin(), task.replicas.end(), [&](const Replica& replica) {
    return replica.length_rank != task.replicas.front().length_rank;
  });
}

std::string describe(const TaskPlan& task) {
  std::vector<int> tensor;
  std::vector<int> pipeline;
  for (const Replica& replica : task.replicas) {
    pipeline.push_back(replica.pipeline_parallel());
    for (const Stage& stage : replica.stages) {
      tensor.push_back(task.tensor_parallel(stage));
    }
  }
  if (tensor.empty()) {
    return "on no device";
  }
  const int context = task.execution.context_parallel;
  return "dp" + std::to_string(task.data_parallel()) + " tp" + degree(tensor) + " pp" + degree(pipeline) +
         (context > 1 ? " cp" + std::to_string(context) : "") + " on " + ranges_of(task.devices());
}

std::string describe(const Plan& plan) {
  std::string out;
  for (const auto& [name, task] : plan.tasks) {
    out += (out.empty() ? "" : "; ") + name + " " + describe(task);
  }
  return out;
}

}  // namespace sextant
