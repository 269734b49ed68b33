// Real jobs on shared pools: processes of `sextant proxy` (generation, training and weight sync with a real transformer)
// that take turns by permits, with core 0 as rollout pool and core 1 as training pool.
//
// Each job of a group is measured alone right before: its phases, from permit to release, are what the simulation
// gets. The group is simulated with phases drawn from these samples, and compared with the meta-iterations that it
// then takes; this is repeated, so that a drift of the machine falls on both. Jobs run at a higher priority than the rest of
// the machine, whose load is stated. A process of the lowest priority keeps each core busy: pools are machines of their
// own, and a core must not be faster while its neighbour is idle.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/json_value.h"
#include "planner/coschedule/control/permit_server.h"
#include "planner/coschedule/rounds.h"
#include "sextant/cluster.h"
#include "sextant/document.h"
#include "sextant/plan.h"
#include "sextant/statistics.h"
#include "sextant/workflow.h"

extern char** environ;

namespace sextant::coschedule {
namespace {

using Clock = std::chrono::steady_clock;

// Sizes of a workflow that the proxy runs. Small batches of the decoder make rollouts long, more prompts training.
struct ProxyJob {
  std::string name;
  int prompts, response_tokens, decode_batch;
};

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "real-jobs-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

Cluster one_core() {
  DeviceType core;
  core.kind = DeviceKind::cpu;
  core.memory_bytes = assumed(8e9);
  core.memory_bytes_per_s = assumed(1e10);
  core.flop_per_s[Precision::fp32] = assumed(5e10);
  Node node;
  node.name = "host";
  node.region = "here";
  node.zone = "here";
  node.device_type = "core";
  node.devices = 1;
  return Cluster("pools", {{"core", core}}, {node}, {{LinkLevel::within_node, {assumed(1e-6), assumed(5e9)}}});
}

void write_documents(const Folder& folder, const ProxyJob& job) {
  Workflow workflow;
  workflow.name = job.name;
  workflow.algorithm = Algorithm::grpo;
  workflow.tasks = grpo_tasks(false);
  Model model;
  model.name = "actor";
  model.layers = 2;
  model.hidden = 128;
  model.intermediate = 384;
  model.heads = 4;
  model.kv_heads = 4;
  model.head_dim = 32;
  model.vocabulary = 256;
  for (const Task& task : workflow.tasks) {
    model.name = task.model;
    workflow.models[task.model] = model;
  }
  workflow.prompts = job.prompts;
  workflow.responses_per_prompt = 2;
  workflow.prompt_tokens = fixed_length(16);
  workflow.response_tokens = fixed_length(job.response_tokens);
  workflow.precision = Precision::fp32;
  Plan plan;
  plan.name = job.name;
  for (const Task& task : workflow.tasks) {
    TaskPlan layout;
    layout.replicas = expand_layout({1, 1, 1, DeviceId{0}}, model.layers);
    layout.micro_batch_sequences = 2;
    layout.decode_batch_sequences = job.decode_batch;
    plan.tasks[task.name] = layout;
  }
  save_document(folder.file(job.name + "-workflow.json"), workflow);
  save_document(folder.file(job.name + "-plan.json"), plan);
}

// A process of `sextant proxy` as a job of the group.
pid_t start(const Folder& folder, const std::string& job, int iterations) {
  const std::string workflow = folder.file(job + "-workflow.json"), plan = folder.file(job + "-plan.json");
  const std::vector<std::string> words{SEXTANT_PROGRAM,
                                       "proxy",
                                       "--cluster",
                                       folder.file("cluster.json"),
                                       "--workflow",
                                       workflow,
                                       "--plan",
                                       plan,
                                       "--out",
                                       folder.file(job + "-runs.json"),
                                       "--warmup",
                                       "0",
                                       "--min-iterations",
                                       std::to_string(iterations),
                                       "--max-iterations",
                                       std::to_string(iterations),
                                       "--budget",
                                       "600",
                                       "--permits",
                                       folder.file("permits"),
                                       "--permit-job",
                                       job,
                                       "--rollout-cores",
                                       "0",
                                       "--training-cores",
                                       "1"};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, SEXTANT_PROGRAM, &files, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error("cannot start sextant proxy");
  return child;
}

void wait_for(pid_t child, bool is_killed = false) {
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!is_killed && status != 0) throw std::runtime_error("a job failed");
}

// A permit server in a thread, until all jobs have left.
class Serving {
 public:
  Serving(const Folder& folder, const Group& group) {
    PermitServerOptions options;
    options.ends_when_all_left = true;
    options.on_event = [this](const PhaseRecord& record) {
      const std::lock_guard lock(mutex_);
      events_.emplace_back(Clock::now(), record);
    };
    log_ = std::async(std::launch::async, [&group, options, socket = folder.file("permits")] {
      return serve_permits(group, socket, options);
    });
    while (!std::filesystem::exists(folder.file("permits")))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  [[nodiscard]] std::vector<PhaseRecord> log() { return log_.get(); }
  // Waits for the first such event from a moment on, and returns its time.
  Clock::time_point wait_for_event(Clock::time_point from,
                                   const std::function<bool(const PhaseRecord&)>& is_it) {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      const std::lock_guard lock(mutex_);
      for (const auto& [time, record] : events_) {
        if (time >= from && is_it(record)) return time;
      }
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Clock::time_point, PhaseRecord>> events_;
  std::future<std::vector<PhaseRecord>> log_;
};

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

double mean_of(const std::vector<Phases>& phases, double Phases::*part) {
  double sum = 0;
  for (const Phases& of : phases) sum += of.*part;
  return sum / static_cast<double>(phases.size());
}

double iteration_s(const std::vector<Phases>& phases) {
  return mean_of(phases, &Phases::rollout_s) + mean_of(phases, &Phases::training_s) +
         mean_of(phases, &Phases::sync_s);
}

constexpr int kSettled = 2;  // iterations

// The mean time between the ends of iterations of a job while all jobs are there, the first two of each left out.
double iteration_together_s(const std::vector<PhaseRecord>& log, const std::string& job, std::size_t jobs) {
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
  return (ends_s.back() - ends_s.front()) / static_cast<double>(ends_s.size() - 1);
}

// The mean meta-iteration with phases that are drawn from the samples.
double simulated_s(const Group& group, const std::vector<std::vector<Phases>>& samples) {
  constexpr int kRounds = 2000;
  std::mt19937_64 random(1);
  Rounds rounds(group);
  double end_s = 0;
  for (int i = 0; i < kRounds; ++i) {
    std::vector<Phases> drawn;
    for (const std::vector<Phases>& of : samples) drawn.push_back(of[random() % of.size()]);
    end_s = rounds.next(drawn).back().sync.end_s;
  }
  return end_s / kRounds;
}

struct Compared {
  std::vector<double> meta_iteration_error, slowdown_error;
  int iterations = 0;
  double extra_s = 0, alone_s = 0;  // iterations of all jobs with others, less those alone; and those alone
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

// Keeps both cores busy when no job runs there.
class IdleWork {
 public:
  IdleWork() {
    for (std::size_t core = 0; core < children_.size(); ++core) {
      children_[core] = ::fork();
      if (children_[core] == 0) spin(static_cast<int>(core));
    }
  }
  ~IdleWork() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  IdleWork(const IdleWork&) = delete;
  IdleWork& operator=(const IdleWork&) = delete;

 private:
  [[noreturn]] static void spin(int core) {
    constexpr int kLowestPriority = 19;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    ::sched_setaffinity(0, sizeof set, &set);
    ::setpriority(PRIO_PROCESS, 0, kLowestPriority);
    for (volatile double value = 1;;) value = value * 1.000001 + 1e-9;
  }
  std::array<pid_t, 2> children_{};
};

Group group_of(const std::vector<ProxyJob>& jobs) {
  Group group{"real", 1, 1, {}};
  for (const ProxyJob& of : jobs) {
    Job job;
    job.name = of.name;
    group.members.push_back({job, {0}});
  }
  return group;
}

std::vector<PhaseRecord> run_together(const Folder& folder, const std::vector<ProxyJob>& jobs, int iterations) {
  const Group group = group_of(jobs);
  Serving serving(folder, group);
  std::vector<pid_t> children;
  for (const ProxyJob& job : jobs) children.push_back(start(folder, job.name, iterations));
  for (const pid_t child : children) wait_for(child);
  return serving.log();
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// A run of the group between two of each job alone, several times: the machine's speed drifts, and the median of the
// ratios to what was measured right before and after leaves out what disturbed one of them.
void compare_group(unsigned seed, Compared& compared) {
  const Folder folder;
  const std::vector<ProxyJob> jobs = drawn_jobs(seed);
  save_document(folder.file("cluster.json"), one_core());
  for (const ProxyJob& job : jobs) write_documents(folder, job);
  constexpr std::size_t kRepeats = 5;
  constexpr int kAlone = 4, kTogether = 9;
  const auto measure_alone = [&] {
    std::vector<std::vector<Phases>> alone;
    for (const ProxyJob& job : jobs) alone.push_back(phases_in(run_together(folder, {job}, kAlone), job.name));
    return alone;
  };
  std::vector<double> meta_ratios;
  std::vector<std::vector<double>> simulated_slowdowns(jobs.size()), measured_slowdowns(jobs.size());
  std::vector<std::vector<Phases>> before = measure_alone();
  for (std::size_t repeat = 0; repeat < kRepeats; ++repeat) {
    const std::vector<PhaseRecord> log = run_together(folder, jobs, kTogether);
    const std::vector<std::vector<Phases>> after = measure_alone();
    for (std::size_t j = 0; j < jobs.size(); ++j)
      before[j].insert(before[j].end(), after[j].begin(), after[j].end());
    const double simulated = simulated_s(group_of(jobs), before);
    std::vector<double> together;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const double solo_s = iteration_s(before[j]);
      together.push_back(iteration_together_s(log, jobs[j].name, jobs.size()));
      simulated_slowdowns[j].push_back(simulated / solo_s);
      measured_slowdowns[j].push_back(together.back() / solo_s);
      compared.extra_s += iteration_s(phases_in(log, jobs[j].name)) - solo_s;
      compared.alone_s += solo_s;
      ++compared.iterations;
    }
    meta_ratios.push_back(simulated / mean(together));
    before = after;
  }
  compared.meta_iteration_error.push_back(std::abs(median(meta_ratios) - 1));
  for (std::size_t j = 0; j < jobs.size(); ++j)
    compared.slowdown_error.push_back(
        std::abs(median(simulated_slowdowns[j]) / median(measured_slowdowns[j]) - 1));
  if (std::getenv("SEXTANT_BENCH_DETAILS") == nullptr) return;
  std::fprintf(stderr, "group %u: simulated over measured %.3f (", seed, median(meta_ratios));
  for (const double ratio : meta_ratios) std::fprintf(stderr, " %.3f", ratio);
  std::fprintf(stderr, " )");
  for (std::size_t j = 0; j < jobs.size(); ++j)
    std::fprintf(stderr, "; %s: %.4f + %.4f s alone, slowdown %.3f simulated, %.3f measured",
                 jobs[j].name.c_str(), mean_of(before[j], &Phases::rollout_s),
                 mean_of(before[j], &Phases::training_s), median(simulated_slowdowns[j]),
                 median(measured_slowdowns[j]));
  std::fprintf(stderr, "\n");
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
  state.counters["slowdown_error"] = mean(compared.slowdown_error);
  state.counters["worst_slowdown_error"] = worst(compared.slowdown_error);
  state.counters["target_worst_slowdown_error"] = 0.10;
  // An iteration has three phases, each after a switch from another job.
  state.counters["warm_switch_s"] = compared.extra_s / (3 * compared.iterations);
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
