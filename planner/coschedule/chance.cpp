#include "planner/coschedule/chance.h"

#include <algorithm>
#include <functional>

#include "planner/coschedule/rounds.h"

namespace sextant::coschedule {
namespace {

constexpr int kWarmUp = 10;  // rounds before those that count, until members wait for each other

// Jobs have streams of draws of their own.
std::uint64_t stream_of(const std::string& name) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a: the same on every machine
  for (const char character : name) hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211U;
  return hash;
}

}  // namespace

const DrawnIterations::Drawn& DrawnIterations::of(const Job& job) {
  const auto found = jobs_.find(job.name);
  if (found != jobs_.end() && found->second.job == job) return found->second;
  Drawn drawn{job, {}, {}, {job.rollout_s, job.training_s, job.sync_s}};
  if (job.responses) {
    drawn.mean = {0, 0, job.sync_s};
    for (int i = 0; i < rules_.iterations + kWarmUp; ++i) {
      drawn.batches.push_back(
          drawn_batch(*job.responses, rules_.seed ^ stream_of(job.name), static_cast<std::uint64_t>(i)));
      drawn.times.push_back(times_of(job, drawn.batches.back()));
      drawn.mean.rollout_s += drawn.times.back().rollout_s / (rules_.iterations + kWarmUp);
      drawn.mean.training_s += drawn.times.back().training_s / (rules_.iterations + kWarmUp);
    }
  }
  return jobs_[job.name] = std::move(drawn);
}

KeptShares DrawnIterations::of(const Group& group, double tail_threshold) {
  const std::size_t members = group.members.size();
  std::vector<const Drawn*> drawn;
  for (const Member& member : group.members) drawn.push_back(&of(member.job));
  KeptShares chance{std::vector<double>(members, 0.0), std::vector<double>(members, 0.0)};
  std::vector<double> alone_s(members, 0.0), together_s(members, 0.0), last_end_s(members, 0.0);
  const std::vector<double> thresholds(members, tail_threshold);
  Rounds rounds(group);
  for (int i = 0; i < rules_.iterations + kWarmUp; ++i) {
    RunningGroup running{&group, {}, {}};
    for (const Drawn* of_member : drawn) {
      const bool has_lengths = !of_member->batches.empty();
      running.times.push_back(has_lengths ? of_member->times[static_cast<std::size_t>(i)] : of_member->mean);
      running.batches.push_back(has_lengths ? &of_member->batches[static_cast<std::size_t>(i)] : nullptr);
    }
    const std::vector<MemberRound> round = rounds.next(running_phases(running, thresholds));
    for (std::size_t m = 0; m < members; ++m) {
      const double took_s = round[m].sync.end_s - last_end_s[m], solo_s = running.times[m].solo_s();
      last_end_s[m] = round[m].sync.end_s;
      if (i < kWarmUp) continue;
      alone_s[m] += solo_s;
      together_s[m] += took_s;
      if (took_s <= group.members[m].job.max_slowdown * solo_s * (1 + kRounding))
        chance.kept_fraction[m] += 1.0 / rules_.iterations;
    }
  }
  for (std::size_t m = 0; m < members; ++m) {
    chance.slowdown[m] = together_s[m] / alone_s[m];
    chance.period_s = std::max(chance.period_s, together_s[m] / rules_.iterations);
  }
  return chance;
}

// Work of the mean iterations that no order avoids; the rollout nodes are left out, as tails take less of them.
bool DrawnIterations::may_keep(const Group& group) {
  double busy_s = 0;
  for (const Member& member : group.members) {
    const Drawn& drawn = of(member.job);
    busy_s += drawn.mean.training_s * member.job.training_nodes / group.training_nodes;
  }
  constexpr double kSlack = 1.02;  // the warm-up is part of the means
  return std::all_of(group.members.begin(), group.members.end(), [&](const Member& member) {
    return busy_s <= member.job.max_slowdown * of(member.job).mean.solo_s() * kSlack;
  });
}

bool DrawnIterations::keeps(const Group& group, double probability, double tail_threshold) {
  if (group.members.size() == 1) return true;  // alone
  if (!may_keep(group)) return false;
  const KeptShares chance = of(group, tail_threshold);
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    if (chance.kept_fraction[m] < probability - kRounding ||
        chance.slowdown[m] > group.members[m].job.max_slowdown * (1 + kRounding))
      return false;
  }
  return true;
}

Job relaxed_for_chance(const Job& job, DrawnIterations& drawn) {
  constexpr double kRelaxed = 0.98;  // the means are of some hundred iterations
  const PhaseTimes mean = drawn.mean_times(job);
  Job relaxed = job;
  relaxed.rollout_warm_start_s = relaxed.training_warm_start_s = 0;
  relaxed.training_s = std::max(1e-6, mean.training_s * kRelaxed);
  relaxed.rollout_s = job.responses ? 1e-6 : mean.rollout_s * kRelaxed;  // a tail may move early
  relaxed.sync_s = mean.sync_s * kRelaxed;
  relaxed.max_slowdown = std::max(1.0, job.max_slowdown * mean.solo_s() / relaxed.solo_s());
  return relaxed;
}

}  // namespace sextant::coschedule
