// Cost of one task (HetRL B.3): the three aggregations over replicas and stages.
//
//   generation  max_i max_j (C_comp + C_tp + C_pp + C_hbm)
//   inference   max_i max_j (C_comp + C_tp + C_pp)
//   training    max_i (max_j (C_comp + C_tp + C_pp) + C_bubble(t,i)) + C_dp
//
// The appendix closes the inner maximum of the first two lines before C_pp and C_hbm; the maximum over stages
// of the whole sum is meant, as its training line writes it. Our terms join where they belong: layer
// overhead and activation traffic in the stage's sum, pipeline fill and serialization beside the bubble, the
// optimizer after the data-parallel all-reduce.
#pragma once

#include <array>
#include <vector>

#include "costmodel/problem.h"
#include "costmodel/terms/bubble.h"
#include "costmodel/terms/compute.h"
#include "costmodel/terms/data_parallel.h"
#include "costmodel/terms/decode.h"
#include "costmodel/terms/optimizer.h"
#include "costmodel/terms/overhead.h"
#include "costmodel/terms/pipeline_parallel.h"
#include "costmodel/terms/tensor_parallel.h"
#include "costmodel/vocabulary/prediction.h"

namespace sextant {

// terms_s sum to time_s; they are those of the critical replica and stage.
template <typename T>
struct TaskCost {
  T time_s = T(0.0);
  std::array<T, kTermCount> terms_s{};
  int critical_replica = 0;
  int critical_stage = 0;

  [[nodiscard]] T& term(Term t) { return terms_s[static_cast<std::size_t>(t)]; }
  [[nodiscard]] const T& term(Term t) const { return terms_s[static_cast<std::size_t>(t)]; }
};

namespace detail {

// The sum inside the inner maximum, term by term.
template <typename T>
[[nodiscard]] TaskCost<T> stage_cost(const StageOfTask<T>& s) {
  TaskCost<T> cost;
  cost.critical_replica = s.replica;
  cost.critical_stage = s.stage;
  cost.term(Term::compute) = terms::compute_s(s) + terms::activation_traffic_s(s);
  cost.term(Term::tensor_parallel) = terms::tensor_parallel_s(s);
  cost.term(Term::pipeline_parallel) = terms::pipeline_parallel_s(s);
  cost.term(Term::overhead) = terms::layer_overhead_s(s);
  if (s.task.kind() == TaskKind::generation) cost.term(Term::decode) = terms::decode_s(s);
  for (int t = 0; t < kTermCount; ++t) cost.time_s += cost.terms_s[static_cast<std::size_t>(t)];
  return cost;
}

template <typename T>
void add(TaskCost<T>& cost, Term term, const T& time_s) {
  cost.term(term) += time_s;
  cost.time_s += time_s;
}

template <typename T>
[[nodiscard]] TaskCost<T> replica_cost(const Problem<T>& problem, const TaskWork& task, int replica) {
  const ReplicaWork& work = task.replicas[static_cast<std::size_t>(replica)];
  const int stages = task.plan->replicas[static_cast<std::size_t>(replica)].pipeline_parallel();
  TaskCost<T> slowest;
  std::vector<T> flow_s, decode_s;  // by stage
  for (int j = 0; j < stages; ++j) {
    TaskCost<T> cost = stage_cost(StageOfTask<T>{problem, task, replica, j});
    decode_s.push_back(cost.term(Term::decode));
    flow_s.push_back(cost.time_s - cost.term(Term::decode));
    if (j == 0 || slowest.time_s < cost.time_s) slowest = std::move(cost);
  }
  if (stages > 1) {
    add(slowest, Term::bubble, terms::bubble_s(problem, task, work, flow_s));
    if (task.kind() == TaskKind::generation) {
      add(slowest, Term::bubble, terms::decode_serialization_s(problem, work, decode_s));
    }
  }
  add(slowest, Term::overhead, terms::task_overhead_s(problem, task, work));
  return slowest;
}

template <typename T>
[[nodiscard]] T slowest_optimizer_s(const Problem<T>& problem, const TaskWork& task) {
  T slowest(0.0);
  for (std::size_t i = 0; i < task.plan->replicas.size(); ++i) {
    for (int j = 0; j < task.plan->replicas[i].pipeline_parallel(); ++j) {
      const T cost = terms::optimizer_s(StageOfTask<T>{problem, task, static_cast<int>(i), j});
      if (slowest < cost) slowest = cost;
    }
  }
  return slowest;
}

}  // namespace detail

template <typename T>
[[nodiscard]] TaskCost<T> task_cost(const Problem<T>& problem, const TaskWork& task) {
  TaskCost<T> slowest;
  for (int i = 0; i < task.plan->data_parallel(); ++i) {
    TaskCost<T> cost = detail::replica_cost(problem, task, i);
    if (i == 0 || slowest.time_s < cost.time_s) slowest = std::move(cost);
  }
  if (task.kind() == TaskKind::training) {
    detail::add(slowest, Term::data_parallel, terms::data_parallel_s(problem, task));
    detail::add(slowest, Term::optimizer, detail::slowest_optimizer_s(problem, task));
  }
  return slowest;
}

}  // namespace sextant
