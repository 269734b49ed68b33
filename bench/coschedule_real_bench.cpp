// Real jobs on shared pools: processes of `sextant proxy` (generation, training and weight sync with a real transformer)
// that take turns by permits, with core 0 as rollout pool and core 1 as training pool.
//
// The processes of a group live through the whole measurement: each has some iterations alone, while the others are stopped
// between two iterations, then all have some together, and so on by turns. A drift of the machine's speed falls on both
// parts, and so does what differs from one start of a process to the next (where its memory lies: one job alone took up to 9 %
// more or less after a restart). The phases alone, from permit to release, are what the simulation gets: it draws from them,
// and is compared with the meta-iterations together. Jobs run at a higher priority than the rest of the machine, whose load
// is stated. A proxy of the lowest priority keeps each core busy: pools are machines of their own, and a core must not be
// faster while its neighbour is idle.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/coschedule_real_jobs.h"
#include "core/json_value.h"
#include "planner/coschedule/rounds.h"
#include "sextant/document.h"
#include "sextant/statistics.h"

namespace sextant::coschedule {
namespace {

// Phases of one job in a log, the first iteration left out: it touches memory for the first time.
std::vector<Phases> phases_in(const std::vector<PhaseRecord>& log, const std::string& job) {
  std::vector<Phases> all;
  double granted_s = 0;
  for (const PhaseRecord& record : log) {
    if (record.job != job) continue;
    if (record.event == PhaseEvent::granted) granted_s = record.time_s;
    if (record.event != PhaseEvent::released) continue;
    const double seconds = record.time_s - granted_s;
    if (record.phase == Phase::rollout) all.push_back({seconds, 0, 0});
    if (record.phase == Phase::training) all.back().training_s = seconds;
    if (record.phase == Phase::sync) all.back().sync_s = seconds;
  }
  if (all.size() > 1) all.erase(all.begin());
  return all;
}

constexpr int kSettled = 2;  // iterations

// The times between the ends of iterations of a job while all jobs are there, the first two of each left out.
std::vector<double> iterations_together_s(const std::vector<PhaseRecord>& log, const std::string& job,
                                          std::size_t jobs) {
  std::map<std::string, int> rollouts;
  std::vector<double> ends_s;
  double last_s = 0;
  for (const PhaseRecord& record : log) {
    if (record.event == PhaseEvent::left || record.event == PhaseEvent::crashed) break;
    if (record.event == PhaseEvent::granted && record.phase == Phase::rollout) ++rollouts[record.job];
    if (record.job != job) continue;
    if (record.event == PhaseEvent::released) last_s = record.time_s;
    const bool is_settled =
        rollouts.size() == jobs &&
        std::all_of(rollouts.begin(), rollouts.end(), [](const auto& of) { return of.second > kSettled; });
    if (record.event == PhaseEvent::asked && record.phase == Phase::rollout && is_settled)
      ends_s.push_back(last_s);
  }
  if (ends_s.size() < 2) throw std::runtime_error("the jobs were not together for long");
  for (std::size_t i = 0; i + 1 < ends_s.size(); ++i) ends_s[i] = ends_s[i + 1] - ends_s[i];
  ends_s.pop_back();
  return ends_s;
}

// The median meta-iteration with phases that are drawn from the samples.
double simulated_s(const Group& group, const std::vector<std::vector<Phases>>& samples) {
  constexpr int kRounds = 2000;
  std::mt19937_64 random(1);
  Rounds rounds(group);
  double end_s = 0;
  std::vector<double> all;
  for (int i = 0; i < kRounds; ++i) {
    std::vector<Phases> drawn;
    for (const std::vector<Phases>& of : samples) drawn.push_back(of[random() % of.size()]);
    const double next_s = rounds.next(drawn).back().sync.end_s;
    all.push_back(next_s - end_s);
    end_s = next_s;
  }
  return median(all);
}

struct Compared {
  std::vector<double> meta_iteration_error, slowdown_error;
  std::vector<double> standard_error;   // of the ratio of each group, from its runs
  std::vector<double> error_of_shared;  // of a simulation with the phases that were measured together
  std::vector<double> alone_spread;     // of the phases of each job alone, from run to run
  double extra_s = 0, alone_s = 0;      // iterations of all jobs with others, less those alone; and those alone
};

// Seeds vary sizes and shapes: long rollouts, balanced, long training.
std::vector<ProxyJob> drawn_jobs(unsigned seed) {
  std::mt19937 random(seed);
  const auto within = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  std::vector<ProxyJob> jobs;
  const int count = 2 + static_cast<int>(seed % 2);
  for (int j = 0; j < count; ++j) {
    constexpr std::array kDecodeBatches = {1, 2, 64};
    const int prompts = within(2, 5), tokens = within(40, 100);
    jobs.push_back({"job-" + std::to_string(j), prompts, tokens,
                    kDecodeBatches.at(static_cast<std::size_t>(within(0, 2)))});
  }
  return jobs;
}

Group group_of(const std::vector<ProxyJob>& jobs) {
  Group group{"real", 1, 1, {}};
  for (const ProxyJob& of : jobs) {
    Job job;
    job.name = of.name;
    group.members.push_back({job, {0}});
  }
  return group;
}

// Lets each job run alone for some iterations, then all together, by turns. A job is stopped with its process when an
// iteration ends, before the server answers it: it neither holds nor waits for a permit then, and is set aside.
class Turns {
 public:
  using Log = std::vector<PhaseRecord>;

  static constexpr int kRepeats = 14, kAlone = 4, kTogether = 6;  // iterations of each job

  explicit Turns(std::vector<std::string> names)
      : names_(std::move(names)), children_(names_.size()), ended_(names_.size()), is_stopped_(names_.size()) {}

  // The process of a job, before its first iteration ends.
  void add(std::size_t job, pid_t child) {
    const std::lock_guard lock(mutex_);
    children_[job] = child;
  }

  // Called in the server's thread for each event.
  void listen(const PhaseRecord& record) {
    const std::lock_guard lock(mutex_);
    if (stage_ != Stage::ending && !logs_.empty()) logs_.back().push_back(record);
    if (record.event != PhaseEvent::released || record.phase != Phase::sync) return;
    const auto job =
        static_cast<std::size_t>(std::find(names_.begin(), names_.end(), record.job) - names_.begin());
    ++ended_[job];
    if (stage_ == Stage::together &&
        std::all_of(ended_.begin(), ended_.end(), [](int ended) { return ended >= kTogether; }))
      stage_ = Stage::ending;
    if (stage_ == Stage::ending || (stage_ == Stage::alone && ended_[job] == kAlone)) stop(job);
    if (std::all_of(is_stopped_.begin(), is_stopped_.end(), [](bool is_stopped) { return is_stopped; })) next();
  }

  // Returns what happened while each job was alone and, last, while all were together, once for each repetition.
  [[nodiscard]] std::vector<std::vector<Log>> logs() const {
    std::vector<std::vector<Log>> all;
    const std::size_t parts = names_.size() + 1;
    for (std::size_t i = 0; i < logs_.size(); i += parts)
      all.emplace_back(logs_.begin() + static_cast<std::ptrdiff_t>(i),
                       logs_.begin() + static_cast<std::ptrdiff_t>(i + parts));
    return all;
  }

 private:
  enum class Stage {
    alone,
    together,
    ending
  };  // ending: each job is stopped at its next end; the start is such a stage

  void stop(std::size_t job) {
    ::kill(children_[job], SIGSTOP);
    is_stopped_[job] = true;
  }

  void resume(std::size_t job) {
    ended_[job] = 0;
    is_stopped_[job] = false;
    ::kill(children_[job], SIGCONT);
  }

  // All jobs are stopped.
  void next() {
    const std::size_t parts = names_.size() + 1, part = logs_.size() % parts;
    if (logs_.size() == parts * kRepeats) {
      for (const pid_t child : children_) ::kill(child, SIGKILL);
      return;
    }
    logs_.emplace_back();
    stage_ = part < names_.size() ? Stage::alone : Stage::together;
    if (stage_ == Stage::alone) return resume(part);
    for (std::size_t job = 0; job < names_.size(); ++job) resume(job);
  }

  std::mutex mutex_;
  std::vector<std::string> names_;
  std::vector<pid_t> children_;
  std::vector<int> ended_;
  std::vector<bool> is_stopped_;
  std::vector<Log> logs_;
  Stage stage_ = Stage::ending;
};

std::vector<std::vector<Turns::Log>> run_by_turns(const Folder& folder, const std::vector<ProxyJob>& jobs) {
  constexpr int kMost = 10000;  // iterations; jobs are killed before
  constexpr double kPatience_s =
      0.2;  // a stopped job is waited for that long, in an iteration that is left out
  const Group group = group_of(jobs);
  std::vector<std::string> names;
  for (const ProxyJob& job : jobs) names.push_back(job.name);
  Turns turns(names);
  Serving serving(folder, group, kPatience_s, [&](const PhaseRecord& record) { turns.listen(record); });
  std::vector<pid_t> children;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    children.push_back(start(folder, names[j], kMost));
    turns.add(j, children.back());
  }
  for (const pid_t child : children) wait_for(child, true);
  (void)serving.log();
  return turns.logs();
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

template <typename Value>
void append(std::vector<Value>& all, const std::vector<Value>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

double median_iteration_s(const std::vector<Phases>& phases) {
  std::vector<double> all;
  for (const Phases& of : phases) all.push_back(of.rollout_s + of.training_s + of.sync_s);
  return median(all);
}

// One part of a group's run: each job alone, and then all together.
struct GroupRun {
  std::vector<std::vector<Phases>> alone, shared;  // by job
  std::vector<std::vector<double>> together_s;     // iterations by job
};

std::vector<GroupRun> run_group(const Folder& folder, const std::vector<ProxyJob>& jobs) {
  std::vector<GroupRun> runs;
  for (const std::vector<Turns::Log>& logs : run_by_turns(folder, jobs)) {
    GroupRun& run = runs.emplace_back();
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      run.alone.push_back(phases_in(logs[j], jobs[j].name));
      run.together_s.push_back(iterations_together_s(logs.back(), jobs[j].name, jobs.size()));
      run.shared.push_back(phases_in(logs.back(), jobs[j].name));
    }
  }
  return runs;
}

// Deviation of some values over their mean.
double spread_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += (value - mean(values)) * (value - mean(values));
  return std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean(values);
}

// The spread of the median of a phase from run to run.
double spread_of_runs(const std::vector<GroupRun>& runs, std::size_t job, double Phases::*phase) {
  std::vector<double> medians;
  for (const GroupRun& run : runs) {
    std::vector<double> all;
    for (const Phases& of : run.alone[job]) all.push_back(of.*phase);
    medians.push_back(median(all));
  }
  return spread_of(medians);
}

// Two numbers that separate noise of the machine from a fault of the simulation. Both parts of a run's ratio were
// measured within seconds, at one speed of the machine, so that the spread of the ratios is the noise of the
// comparison. A simulation with the phases that were measured together leaves out what sharing does to a phase
// (switches, caches, the memory's bandwidth): what is wrong then is the order of the phases, or the time between them.
struct Separated {
  double ratio = 1;           // simulated over measured: the median over the runs
  double standard_error = 0;  // of that ratio
  double ratio_of_shared = 0;
  std::vector<double>
      ratio_of_job;  // the same for the iterations of each job: simulated over measured slowdown
};

Separated separate(const std::vector<ProxyJob>& jobs, const std::vector<GroupRun>& runs) {
  const Group group = group_of(jobs);
  std::vector<double> ratios, shared;
  std::vector<std::vector<double>> of_job(jobs.size());
  for (const GroupRun& run : runs) {
    const double simulated = simulated_s(group, run.alone);
    std::vector<double> all;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      append(all, run.together_s[j]);
      of_job[j].push_back(simulated / median(run.together_s[j]));
    }
    ratios.push_back(simulated / median(all));
    shared.push_back(simulated_s(group, run.shared) / median(all));
  }
  constexpr double kMedianOverMean = 1.2533;  // sqrt(pi / 2): standard errors of a median and of a mean
  Separated separated{
      median(ratios),
      kMedianOverMean * spread_of(ratios) * mean(ratios) / std::sqrt(static_cast<double>(ratios.size())),
      median(shared),
      {}};
  for (const std::vector<double>& of : of_job) separated.ratio_of_job.push_back(median(of));
  return separated;
}

// Medians leave out what disturbed a few iterations.
void compare_group(unsigned seed, Compared& compared) {
  const Folder folder;
  const std::vector<ProxyJob> jobs = drawn_jobs(seed);
  save_document(folder.file("cluster.json"), one_core());
  for (const ProxyJob& job : jobs) write_documents(folder, job);
  const std::vector<GroupRun> runs = run_group(folder, jobs);
  std::vector<std::vector<Phases>> alone(jobs.size()), shared(jobs.size());
  std::vector<std::vector<double>> together(jobs.size());
  for (const GroupRun& run : runs) {
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      append(alone[j], run.alone[j]);
      append(shared[j], run.shared[j]);
      append(together[j], run.together_s[j]);
    }
  }
  const double simulated = simulated_s(group_of(jobs), alone);
  std::vector<double> all;
  for (const std::vector<double>& of : together) append(all, of);
  const Separated separated = separate(jobs, runs);
  const double ratio = separated.ratio;
  compared.meta_iteration_error.push_back(std::abs(ratio - 1));
  compared.standard_error.push_back(separated.standard_error);
  compared.error_of_shared.push_back(std::abs(separated.ratio_of_shared - 1));
  const bool has_details = std::getenv("SEXTANT_BENCH_DETAILS") != nullptr;
  if (has_details)
    std::fprintf(stderr,
                 "group %u: simulated %.4f s, measured %.4f s, ratio %.3f +- %.3f, %.3f with the phases "
                 "measured together",
                 seed, simulated, median(all), ratio, separated.standard_error, separated.ratio_of_shared);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const double solo_s = median_iteration_s(alone[j]), shared_s = median_iteration_s(shared[j]);
    compared.slowdown_error.push_back(std::abs(separated.ratio_of_job[j] - 1));
    compared.extra_s += shared_s - solo_s;
    compared.alone_s += solo_s;
    const double rollout = spread_of_runs(runs, j, &Phases::rollout_s),
                 training = spread_of_runs(runs, j, &Phases::training_s);
    compared.alone_spread.push_back(std::max(rollout, training));
    if (has_details)
      std::fprintf(stderr,
                   "; %s: %.4f s alone (from run to run rollout %.1f %%, training %.1f %%), %+.1f %% beside "
                   "others, slowdown "
                   "%.3f simulated, %.3f measured",
                   jobs[j].name.c_str(), solo_s, 100 * rollout, 100 * training, 100 * (shared_s / solo_s - 1),
                   simulated / solo_s, median(together[j]) / solo_s);
  }
  if (has_details) std::fprintf(stderr, "\n");
}

// Groups whose error is beyond the target, and by more than the noise of their runs.
int beyond_noise(const Compared& compared, double target) {
  int groups = 0;
  for (std::size_t g = 0; g < compared.standard_error.size(); ++g)
    groups += compared.meta_iteration_error[g] - 2 * compared.standard_error[g] > target ? 1 : 0;
  return groups;
}

double load_of_machine() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

// Jobs inherit it. False if that is not allowed.
bool raise_priority() {
  constexpr int kPriority = -20;
  return ::setpriority(PRIO_PROCESS, 0, kPriority) == 0;
}

void real_meta_iteration(benchmark::State& state) {
  constexpr unsigned kGroups = 12;
  if (std::thread::hardware_concurrency() < 2) {
    state.SkipWithError("two cores are needed");
    return;
  }
  constexpr int kPriority = -20;
  const IdleWork idle_work;
  const bool has_priority = ::setpriority(PRIO_PROCESS, 0, kPriority) == 0;
  Compared compared;
  const double load = load_of_machine();
  for (auto _ : state) {
    for (unsigned seed = 1; seed <= kGroups; ++seed) compare_group(seed, compared);
  }
  const auto worst = [](const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
  };
  state.counters["groups"] = kGroups;
  state.counters["error"] = mean(compared.meta_iteration_error);
  state.counters["worst_error"] = worst(compared.meta_iteration_error);
  state.counters["target_worst_error"] = 0.08;
  state.counters["standard_error"] = mean(compared.standard_error);
  state.counters["worst_standard_error"] = worst(compared.standard_error);
  state.counters["groups_beyond_noise"] = beyond_noise(compared, 0.08);
  state.counters["error_of_shared_phases"] = mean(compared.error_of_shared);
  state.counters["worst_error_of_shared_phases"] = worst(compared.error_of_shared);
  state.counters["alone_spread"] = mean(compared.alone_spread);
  state.counters["worst_alone_spread"] = worst(compared.alone_spread);
  state.counters["slowdown_error"] = mean(compared.slowdown_error);
  state.counters["worst_slowdown_error"] = worst(compared.slowdown_error);
  state.counters["target_worst_slowdown_error"] = 0.10;
  // An iteration has three phases, each after a switch from another job.
  state.counters["warm_switch_s"] =
      compared.extra_s / (3.0 * static_cast<double>(compared.slowdown_error.size()));
  state.counters["warm_switch_share"] = compared.extra_s / compared.alone_s;
  state.counters["has_priority"] = has_priority ? 1 : 0;
  state.counters["load_before"] = load;
  state.counters["load_after"] = load_of_machine();
}
BENCHMARK(real_meta_iteration)->Name("coschedule.real.meta_iteration")->Unit(benchmark::kSecond)->Iterations(1);

// A job is killed in its rollout and comes back: how long until another job's next phase, in the longest phases of the
// jobs, and until its own first phase.
void real_failure(benchmark::State& state) {
  if (std::thread::hardware_concurrency() < 2) {
    state.SkipWithError("two cores are needed");
    return;
  }
  raise_priority();
  const Folder folder;
  save_document(folder.file("cluster.json"), one_core());
  const std::vector<ProxyJob> jobs{{"job-0", 3, 64, 1}, {"job-1", 3, 96, 2}, {"job-2", 4, 64, 64}};
  for (const ProxyJob& job : jobs) write_documents(folder, job);
  const Group group = group_of(jobs);
  constexpr int kIterations = 30;
  const auto seconds = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  };
  double next_s = 0, back_s = 0, cold_s = 0, longest_s = 0;
  for (auto _ : state) {
    Serving serving(folder, group);
    std::vector<pid_t> children;
    for (const ProxyJob& job : jobs) children.push_back(start(folder, job.name, kIterations));
    const auto granted = [](const std::string& name, Phase phase) {
      return [name, phase](const PhaseRecord& record) {
        return record.event == PhaseEvent::granted && record.phase == phase && record.job == name;
      };
    };
    for (int i = 0; i < 4; ++i) (void)serving.wait_for_event(Clock::now(), granted("job-1", Phase::rollout));
    const Clock::time_point killed = Clock::now();
    ::kill(children[1], SIGKILL);
    wait_for(children[1], true);
    const Clock::time_point next = serving.wait_for_event(killed, [](const PhaseRecord& record) {
      return record.event == PhaseEvent::granted && record.phase == Phase::rollout && record.job != "job-1";
    });
    const Clock::time_point again = Clock::now();
    children[1] = start(folder, "job-1", kIterations / 2);
    const Clock::time_point asked = serving.wait_for_event(again, [](const PhaseRecord& record) {
      return record.event == PhaseEvent::asked && record.job == "job-1";
    });
    const Clock::time_point back = serving.wait_for_event(again, granted("job-1", Phase::rollout));
    next_s = seconds(killed, next);
    cold_s = seconds(again, asked);
    back_s = seconds(again, back);
    for (const pid_t child : children) wait_for(child);
    const std::vector<PhaseRecord> log = serving.log();
    for (const ProxyJob& job : jobs) {
      for (const Phases& of : phases_in(log, job.name))
        longest_s = std::max({longest_s, of.rollout_s, of.training_s, of.sync_s});
    }
  }
  state.counters["next_phase_s"] = next_s;
  state.counters["next_phase_over_longest"] = next_s / longest_s;
  state.counters["target_next_phase_over_longest"] = 1;
  state.counters["cold_start_s"] = cold_s;
  state.counters["back_after_s"] = back_s;
}
BENCHMARK(real_failure)->Name("coschedule.real.failure")->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace sextant::coschedule
