#include "planner/coschedule/tail.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

// Shares of the responses at which tails may move; 0: the tail stays.
constexpr std::array kThresholds = {0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98};

// The share of the bound of a rollout after which every response has `tokens` tokens or has ended.
double share_at(const Responses& responses, const Batch& batch, double tokens) {
  return ((1 - responses.batch_share) * tokens + responses.batch_share * batch.mean_up_to(tokens)) /
         responses.bound_tokens();
}

double period_of(const RunningGroup& running, const std::vector<Phases>& phases) {
  return turns_of_phases(*running.group, phases, meta_iteration(*running.group)).period_s;
}

TailMoves moved_at(const RunningGroup& running, std::vector<double> thresholds) {
  TailMoves moves{std::move(thresholds), {}, 0};
  moves.phases = running_phases(running, moves.thresholds);
  moves.period_s = period_of(running, moves.phases);
  return moves;
}

// Changes one member's threshold at a time while the period gets shorter.
TailMoves improved(const RunningGroup& running, TailMoves best) {
  constexpr double kShorter = 1e-9;  // relative
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t m = 0; m < best.thresholds.size(); ++m) {
      if (running.batches[m] == nullptr) continue;
      for (const double threshold : kThresholds) {
        std::vector<double> thresholds = best.thresholds;
        thresholds[m] = threshold;
        TailMoves moves = moved_at(running, std::move(thresholds));
        if (moves.period_s >= best.period_s * (1 - kShorter)) continue;
        best = std::move(moves);
        has_changed = true;
      }
    }
  }
  return best;
}

}  // namespace

PhaseTimes times_of(const Job& job, const Batch& batch) {
  const Responses& responses = *job.responses;
  const double fixed = responses.fixed_training_share;
  return {job.environment_s() + job.decoding_s() * share_at(responses, batch, batch.longest()),
          job.training_s * (fixed + (1 - fixed) * batch.mean() / responses.bound_tokens()), job.sync_s};
}

PhaseTimes typical_times(const Job& job) {
  if (job.responses) return times_of(job, typical_batch(*job.responses));
  return {job.environment_s() + job.decoding_s() * job.typical_fraction, job.training_s * job.typical_fraction,
          job.sync_s};
}

std::optional<TailSplit> split_rollout(const Job& job, const Batch& batch, double threshold) {
  const Responses& responses = *job.responses;
  const auto count = static_cast<double>(batch.size());
  const auto ended = static_cast<std::size_t>(std::ceil(threshold * count - 1e-9));
  if (ended == 0 || ended >= batch.size()) return std::nullopt;
  const double at = batch.at(ended - 1), left = (count - static_cast<double>(ended)) / count;
  TailSplit split;
  split.tail_workers = std::max(1, static_cast<int>(std::ceil(left * responses.workers - 1e-9)));
  if (split.tail_workers >= responses.workers || batch.longest() <= at) return std::nullopt;
  const double fuller = static_cast<double>(responses.workers) / split.tail_workers;
  const double tail_share = ((1 - responses.batch_share) * (batch.longest() - at) +
                             responses.batch_share * fuller * (batch.mean() - batch.mean_up_to(at))) /
                            responses.bound_tokens();
  split.head_s = job.environment_s() + job.decoding_s() * share_at(responses, batch, at);
  split.tail_s = job.decoding_s() * tail_share + responses.migration_s;
  return split;
}

std::vector<Phases> running_phases(const RunningGroup& running, const std::vector<double>& thresholds) {
  const Group& group = *running.group;
  std::vector<Phases> phases = phases_of(group);
  for (std::size_t m = 0; m < phases.size(); ++m) {
    const Job& job = group.members[m].job;
    const double warm_start_s = phases[m].rollout_s - job.rollout_s;
    // Training keeps its warm start and its speed on the group's nodes.
    const double bound_s = job.training_s_on(group.training_nodes);
    phases[m].training_s += running.times[m].training_s / job.training_s * bound_s - bound_s;
    phases[m].rollout_s = running.times[m].rollout_s + warm_start_s;
    if (!job.responses) continue;
    phases[m].batch_share = job.responses->batch_share;
    if (running.batches[m] == nullptr || thresholds[m] <= 0 || !shares_rollout_nodes(group, m)) continue;
    const std::optional<TailSplit> split = split_rollout(job, *running.batches[m], thresholds[m]);
    if (!split) continue;
    phases[m].rollout_s = split->head_s + warm_start_s;
    phases[m].tail_s = split->tail_s;
    phases[m].tail_nodes =
        static_cast<double>(split->tail_workers) / job.responses->workers * job.rollout_nodes;
  }
  return phases;
}

TailMoves move_tails(const RunningGroup& running, TailRule rule, double threshold) {
  const std::size_t members = running.times.size();
  TailMoves moves = moved_at(running, std::vector<double>(members, rule == TailRule::fixed ? threshold : 0.0));
  const bool has_lengths = std::any_of(running.batches.begin(), running.batches.end(),
                                       [](const Batch* batch) { return batch != nullptr; });
  if (rule != TailRule::best || !has_lengths) return moves;
  TailMoves best = improved(running, std::move(moves));
  TailMoves other = improved(running, moved_at(running, std::vector<double>(members, kWeaveThreshold)));
  return other.period_s < best.period_s ? other : best;
}

}  // namespace sextant::coschedule
