#include "planner/two_phase/rollout_search.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "planner/request/shapes.h"

namespace sextant::inline planner {
namespace {

constexpr double kMakespanTolerance = 1e-4;  // relative; replicas' shares are whole sequences, far coarser
constexpr double kFirstStep = 0.02, kStepGrowth = 4;  // of the makespan

}  // namespace

RolloutSearch::RolloutSearch(const Costing& costing, int task)
    : costing_(costing), task_(task), times_(costing, task) {}

RolloutSearch::Kinds RolloutSearch::kinds_of(const PieceClass& pieces, const RolloutLimits& limits) {
  const Model& model = costing_.workflow().model_of(costing_.task(task_));
  Kinds kinds;
  for (int tp = 1; tp <= std::min(pieces.devices, limits.tensor_parallel_limit); ++tp) {
    if (!can_cut(model, tp)) continue;
    // Stages by twos: three in a machine are worse than two or four (a machine's devices do not divide).
    for (int stages = 1; tp * stages <= pieces.devices && stages <= model.layers; stages *= 2) {
      const ReplicaKind kind{pieces.machine_class, pieces.machine, tp, stages};
      if (kind.size() >= std::min(limits.min_devices, pieces.devices))
        kinds.push_back(&times_.of(kind, limits.cut));
    }
  }
  return kinds;
}

Filling RolloutSearch::filling(const PieceClass& pieces, const Kinds& kinds, double within_s) {
  std::vector<FillItem> items;
  items.reserve(kinds.size());
  for (ReplicaCurve* kind : kinds) items.push_back({kind->kind().size(), kind->capacity(within_s)});
  return best_filling(items, pieces.devices);
}

std::vector<RolloutSearch::Candidate> RolloutSearch::replicas(const std::vector<PieceClass>& pieces,
                                                              const std::vector<Kinds>& kinds,
                                                              double within_s) {
  std::vector<Candidate> replicas;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Filling filled = filling(pieces[p], kinds[p], within_s);
    for (const std::vector<DeviceId>& piece : pieces[p].pieces) {
      int next = 0;
      for (std::size_t k = kinds[p].size(); k-- > 0;) {
        for (int i = 0; i < filled.counts[k]; ++i) {
          replicas.push_back({kinds[p][k], &piece, next, kinds[p][k]->capacity(within_s)});
          next += kinds[p][k]->kind().size();
        }
      }
    }
  }
  return replicas;
}

// Sequences that are too many are taken, one by one, from the replica that is done last.
void RolloutSearch::trim(std::vector<Candidate>& replicas) const {
  int surplus = -costing_.workflow().sequences();
  for (const Candidate& replica : replicas) surplus += replica.sequences;
  using Late = std::pair<double, std::size_t>;
  std::priority_queue<Late> latest;
  const auto push = [&](std::size_t i) {
    if (replicas[i].sequences > 0) latest.emplace(replicas[i].of->time_s(replicas[i].sequences), i);
  };
  for (std::size_t i = 0; i < replicas.size(); ++i) push(i);
  for (; surplus > 0; --surplus) {
    const std::size_t last = latest.top().second;
    latest.pop();
    --replicas[last].sequences;
    push(last);
  }
}

TaskPlan RolloutSearch::task_plan(const std::vector<Candidate>& replicas, const BatchCut& cut) const {
  const int layers = costing_.workflow().model_of(costing_.task(task_)).layers;
  TaskPlan plan;
  plan.micro_batch_sequences = cut.micro_batch_sequences;
  plan.decode_batch_sequences = cut.decode_batch_sequences;
  int largest = 0;
  for (const Candidate& candidate : replicas) {
    if (candidate.sequences == 0) continue;
    largest = std::max(largest, candidate.sequences);
    Replica replica{static_cast<double>(candidate.sequences) / costing_.workflow().sequences(), {}};
    int next = candidate.first;
    for (const int in_stage : dealt_evenly(layers, candidate.of->kind().stages)) {
      Stage stage{in_stage, {}};
      for (int k = 0; k < candidate.of->kind().tensor_parallel; ++k)
        stage.devices.push_back((*candidate.piece)[static_cast<std::size_t>(next++)]);
      replica.stages.push_back(std::move(stage));
    }
    plan.replicas.push_back(std::move(replica));
  }
  plan.micro_batch_sequences = std::min(plan.micro_batch_sequences, largest);
  return plan;
}

std::optional<TaskPlan> RolloutSearch::plan(const std::vector<PieceClass>& pieces,
                                            const RolloutLimits& limits) {
  const int batch = costing_.workflow().sequences();
  std::vector<Kinds> kinds;
  double high_s = 0;
  for (const PieceClass& of : pieces) {
    kinds.push_back(kinds_of(of, limits));
    for (ReplicaCurve* kind : kinds.back()) {
      if (const int maximum = kind->max_sequences(); maximum > 0)
        high_s = std::max(high_s, kind->time_s(maximum));
    }
  }
  const auto is_enough = [&](double within_s) {
    double capacity = 0;
    for (std::size_t p = 0; p < pieces.size(); ++p)
      capacity += static_cast<double>(pieces[p].count()) * filling(pieces[p], kinds[p], within_s).capacity;
    return capacity >= batch;
  };
  if (!is_enough(high_s)) return std::nullopt;
  // Around the last answer first, in steps that grow until it is passed: few times are asked for there.
  double low_s = 0;
  for (double at_s = last_s_, step = kFirstStep; at_s > low_s && at_s < high_s; step *= kStepGrowth) {
    const bool enough = is_enough(at_s);
    (enough ? high_s : low_s) = at_s;
    at_s *= enough ? 1 - std::min(step, 0.5) : 1 + step;
  }
  while (high_s - low_s > kMakespanTolerance * high_s) {
    const double middle_s = 0.5 * (low_s + high_s);
    (is_enough(middle_s) ? high_s : low_s) = middle_s;
  }
  last_s_ = high_s;
  std::vector<Candidate> found = replicas(pieces, kinds, high_s);
  trim(found);
  return task_plan(found, limits.cut);
}

}  // namespace sextant::inline planner
