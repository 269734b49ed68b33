// Tasks of an iteration hand data on: token ids and log-probabilities of generation, log-probabilities, values
// and rewards of inference.
//
// A batch carries what was made of it, so that a task gets what each of its ancestors made: B bytes a token of
// generation (Workflow::data_bytes_per_token), one number in fp32 a token of inference. The transfers follow
// one another, as a controller makes them, after the tasks of the iteration and beside nothing.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/problem/work.h"
#include "costmodel/terms/data_transfer.h"

namespace sextant {

// Tasks by their position in the workflow.
struct DataEdge {
  std::size_t made = 0;
  std::size_t needed = 0;
  double bytes = 0;  // of all sequences of an iteration
};

// None on clusters of one zone (terms/data_transfer.h).
[[nodiscard]] std::vector<DataEdge> data_edges(const Workflow& workflow, const Cluster& cluster);

// s: all edges. work_of(task): the TaskWork of the task at that position.
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

}  // namespace sextant
