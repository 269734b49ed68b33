// Cost of one task (HetRL B.3): the three aggregations over replicas and stages.
//
//   generation  max_i max_j (C_comp + C_tp + C_pp + C_hbm)
//   inference   max_i max_j (C_comp + C_tp + C_pp)
//   training    max_i (max_j (C_comp + C_tp + C_pp) + C_bubble(t,i)) + C_dp
//
// The appendix closes the inner maximum of the first two lines before C_pp and C_hbm; we take the maximum over
// stages of the whole sum, as its training line does. Our terms are added where they occur: traffic, context
// and expert parallelism, gathered weights, the host's overhead and the wait for longer sequences of other
// replicas in the stage's sum, pipeline fill and serialization with the bubble, offloading after the stages, the
// wait for stragglers after the replicas, the optimizer after the data-parallel all-reduce.
// Equivalent replicas (symmetry.h) are evaluated once.
#pragma once

#include <array>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/bubble.h"
#include "costmodel/terms/compute.h"
#include "costmodel/terms/context_parallel.h"
#include "costmodel/terms/data_parallel.h"
#include "costmodel/terms/decode.h"
#include "costmodel/terms/expert_parallel.h"
#include "costmodel/terms/offload.h"
#include "costmodel/terms/optimizer.h"
#include "costmodel/terms/overhead.h"
#include "costmodel/terms/pipeline_parallel.h"
#include "costmodel/terms/prefill.h"
#include "costmodel/terms/sharded_weights.h"
#include "costmodel/terms/shared_links.h"
#include "costmodel/terms/stragglers.h"
#include "costmodel/terms/tensor_parallel.h"
#include "costmodel/terms/traffic.h"
#include "costmodel/terms/uneven_lengths.h"
#include "sextant/prediction.h"

namespace sextant::inline costmodel {

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

namespace task_parts {

// The sum inside the inner maximum, term by term.
template <typename T>
[[nodiscard]] TaskCost<T> stage_cost(const StageOfTask<T>& s) {
  TaskCost<T> cost;
  cost.critical_replica = s.replica();
  cost.critical_stage = s.stage;
  const T computed = s.is_generation() ? terms::prefill_s(s) : T(terms::compute_s(s) + terms::traffic_s(s));
  cost.term(Term::compute) = computed;
  cost.term(Term::tensor_parallel) = terms::exposed(
      terms::tensor_parallel_s(s), computed, s.problem.coefficient(CoefficientId::tensor_parallel_overlap));
  cost.term(Term::context_parallel) = terms::context_parallel_s(s, computed);
  cost.term(Term::expert_parallel) = terms::expert_parallel_s(s, computed);
  cost.term(Term::weight_gather) = terms::weight_gather_s(s, computed);
  T device(0.0);
  for (const T& term : cost.terms_s) device += term;
  cost.term(Term::overhead) = terms::host_overhead_s(s, device);
  cost.term(Term::uneven_lengths) = terms::uneven_lengths_s(s, device, cost.term(Term::weight_gather));
  cost.term(Term::pipeline_parallel) = terms::pipeline_parallel_s(s);
  if (s.is_generation()) cost.term(Term::decode) = terms::decode_s(s);
  cost.time_s = device + cost.term(Term::overhead) + cost.term(Term::uneven_lengths) +
                cost.term(Term::pipeline_parallel) + cost.term(Term::decode);
  return cost;
}

template <typename T>
void add(TaskCost<T>& cost, Term term, const T& time_s) {
  cost.term(term) += time_s;
  cost.time_s += time_s;
}

// of_class: position in TaskWork::classes.
template <typename T>
[[nodiscard]] TaskCost<T> replica_cost(const Problem<T>& problem, const TaskWork& task, int of_class) {
  const auto replica = static_cast<std::size_t>(task.classes[static_cast<std::size_t>(of_class)].replica);
  const ReplicaWork& work = task.replicas[replica];
  const int stages = task.plan->replicas[replica].pipeline_parallel();
  TaskCost<T> slowest;
  T offloaded(0.0);
  std::vector<T> flow_s, decode_s;  // by stage
  flow_s.reserve(static_cast<std::size_t>(stages));
  decode_s.reserve(static_cast<std::size_t>(stages));
  for (int j = 0; j < stages; ++j) {
    const StageOfTask<T> stage{problem, task, of_class, j};
    TaskCost<T> cost = stage_cost(stage);
    decode_s.push_back(cost.term(Term::decode));
    flow_s.push_back(cost.time_s - cost.term(Term::decode));
    const T moved = terms::offload_s(stage, cost.term(Term::compute));
    if (offloaded < moved) offloaded = moved;
    if (j == 0 || slowest.time_s < cost.time_s) slowest = std::move(cost);
  }
  if (stages > 1) {
    add(slowest, Term::bubble, terms::bubble_s(problem, task, work, flow_s));
    if (task.kind() == TaskKind::generation) {
      add(slowest, Term::bubble, terms::decode_serialization_s(problem, work, decode_s));
    }
  }
  add(slowest, Term::offload, offloaded);
  add(slowest, Term::overhead, terms::task_overhead_s(problem, task, work, slowest.time_s));
  return slowest;
}

template <typename T>
[[nodiscard]] T slowest_optimizer_s(const Problem<T>& problem, const TaskWork& task) {
  T slowest(0.0);
  for (std::size_t c = 0; c < task.classes.size(); ++c) {
    const auto replica = static_cast<std::size_t>(task.classes[c].replica);
    for (int j = 0; j < task.plan->replicas[replica].pipeline_parallel(); ++j) {
      const T cost = terms::optimizer_s(StageOfTask<T>{problem, task, static_cast<int>(c), j});
      if (slowest < cost) slowest = cost;
    }
  }
  return slowest;
}

// Returns the cost of the slowest replica, including the wait for others on shared links.
template <typename T>
[[nodiscard]] TaskCost<T> slowest_replica_cost(const Problem<T>& problem, const TaskWork& task) {
  std::vector<terms::TrunkLoads<T>> loads;  // empty on clusters without trunks
  terms::TrunkLoads<T> all;
  if (problem.cluster().has_trunks()) {
    for (std::size_t c = 0; c < task.classes.size(); ++c) {
      loads.push_back(terms::trunk_loads(problem, task, static_cast<int>(c)));
      terms::add_loads(all, loads.back());
    }
  }
  TaskCost<T> slowest;
  for (std::size_t c = 0; c < task.classes.size(); ++c) {
    TaskCost<T> cost = replica_cost(problem, task, static_cast<int>(c));
    if (!loads.empty()) add(cost, Term::pipeline_parallel, terms::trunk_wait_s(all, loads[c], cost.time_s));
    if (c == 0 || slowest.time_s < cost.time_s) slowest = std::move(cost);
  }
  return slowest;
}

}  // namespace task_parts

template <typename T>
[[nodiscard]] TaskCost<T> task_cost(const Problem<T>& problem, const TaskWork& task) {
  TaskCost<T> slowest = task_parts::slowest_replica_cost(problem, task);
  task_parts::add(slowest, Term::stragglers, terms::stragglers_s(problem, task, slowest.time_s));
  if (task.kind() == TaskKind::training) {
    constexpr double kBackwardShare = 2.0 / 3.0;  // share of forward and backward
    const T backward = kBackwardShare * slowest.term(Term::compute);
    task_parts::add(slowest, Term::data_parallel, terms::data_parallel_s(problem, task, backward));
    task_parts::add(slowest, Term::optimizer, task_parts::slowest_optimizer_s(problem, task));
  }
  return slowest;
}

}  // namespace sextant::inline costmodel
