// The data that tasks of an iteration pass on: token ids and log-probabilities from generation,
// log-probabilities, values and rewards from inference.
//
// A batch accumulates data, so a task receives the output of each of its ancestors: B bytes per token of
// generation (Workflow::data_bytes_per_token), one fp32 number per token of inference. The transfers run one
// after another, as a controller makes them, after the tasks of the iteration and without overlap.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/problem/work.h"
#include "costmodel/terms/data_transfer.h"

namespace sextant::inline costmodel {

// Tasks by their position in the workflow.
struct DataEdge {
  std::size_t made = 0;
  std::size_t needed = 0;
  double bytes = 0;  // for all sequences of an iteration
};

// Returns no edges on clusters of one zone (terms/data_transfer.h).
[[nodiscard]] std::vector<DataEdge> data_edges(const Workflow& workflow, const Cluster& cluster);

// Returns the seconds of all edges. work_of(task): the TaskWork of the task at that position.
template <typename T, typename WorkOf>
[[nodiscard]] T plan_data_s(const Problem<T>& problem, WorkOf work_of) {
  T sum(0.0);
  for (const DataEdge& edge : data_edges(problem.workflow, problem.cluster())) {
    const std::set<DeviceId>&made = work_of(edge.made).devices, &needed = work_of(edge.needed).devices;
    const std::vector<DeviceId> from(made.begin(), made.end()), to(needed.begin(), needed.end());
    sum += terms::data_transfer_s(problem, std::span<const DeviceId>(from), std::span<const DeviceId>(to),
                                  edge.bytes);
  }
  return sum;
}

}  // namespace sextant::inline costmodel
