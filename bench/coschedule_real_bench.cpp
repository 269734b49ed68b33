// Real jobs on shared pools: processes of `sextant proxy` (generation, training and weight sync with a real transformer)
// that take turns by permits, with core 0 as rollout pool and core 1 as training pool.
//
// Each job of a group is measured alone right before: its phases, from permit to release, are what the simulation
// gets. The group is simulated with phases drawn from these samples, and compared with the meta-iterations that it
// then takes; this is repeated, so that a drift of the machine falls on both. Jobs run at a higher priority than the rest of
// the machine, whose load is stated. A proxy of the lowest priority keeps each core busy: pools are machines of their own,
// and a core must not be faster while its neighbour is idle.
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
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&files, output, "/dev/null", O_WRONLY, 0);
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
      return serve_permits(group, socket, options).log;
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

// Keeps both cores busy when no job runs there, with a proxy of its own on each that needs no permits.
class IdleWork {
 public:
  IdleWork() {
    save_document(folder_.file("cluster.json"), one_core());
    write_documents(folder_, {"idle", 3, 64, 2});
    for (std::size_t core = 0; core < children_.size(); ++core) {
      children_[core] = ::fork();
      if (children_[core] == 0) work(static_cast<int>(core));
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
  [[noreturn]] void work(int core) const {
    constexpr int kLowestPriority = 19;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    ::sched_setaffinity(0, sizeof set, &set);
    ::setpriority(PRIO_PROCESS, 0, kLowestPriority);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    const std::string cluster = folder_.file("cluster.json"), workflow = folder_.file("idle-workflow.json"),
                      plan = folder_.file("idle-plan.json"), out = folder_.file("idle-" + std::to_string(core));
    ::execl(SEXTANT_PROGRAM, SEXTANT_PROGRAM, "proxy", "--cluster", cluster.c_str(), "--workflow",
            workflow.c_str(), "--plan", plan.c_str(), "--out", out.c_str(), "--spread", "0", "--max-iterations",
            "1000000", "--budget", "100000", nullptr);
    ::_exit(1);
  }

  Folder folder_;
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

template <typename Value>
void append(std::vector<Value>& all, const std::vector<Value>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

double median_iteration_s(const std::vector<Phases>& phases) {
  std::vector<double> all;
  for (const Phases& of : phases) all.push_back(of.rollout_s + of.training_s + of.sync_s);
  return median(all);
}

// Runs of the group between runs of each job alone: the machine's speed drifts, and falls on both alike. Medians leave
// out what disturbed a few iterations.
void compare_group(unsigned seed, Compared& compared) {
  const Folder folder;
  const std::vector<ProxyJob> jobs = drawn_jobs(seed);
  save_document(folder.file("cluster.json"), one_core());
  for (const ProxyJob& job : jobs) write_documents(folder, job);
  constexpr int kRepeats = 5, kAlone = 5, kTogether = 9;
  std::vector<std::vector<Phases>> alone(jobs.size()), shared(jobs.size());
  std::vector<std::vector<double>> together(jobs.size());
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (std::size_t j = 0; j < jobs.size(); ++j)
      append(alone[j], phases_in(run_together(folder, {jobs[j]}, kAlone), jobs[j].name));
    const std::vector<PhaseRecord> log = run_together(folder, jobs, kTogether);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      append(together[j], iterations_together_s(log, jobs[j].name, jobs.size()));
      append(shared[j], phases_in(log, jobs[j].name));
    }
  }
  const double simulated = simulated_s(group_of(jobs), alone);
  std::vector<double> all;
  for (const std::vector<double>& of : together) append(all, of);
  compared.meta_iteration_error.push_back(std::abs(simulated / median(all) - 1));
  const bool has_details = std::getenv("SEXTANT_BENCH_DETAILS") != nullptr;
  if (has_details)
    std::fprintf(stderr, "group %u: simulated %.4f s, measured %.4f s, ratio %.3f", seed, simulated,
                 median(all), simulated / median(all));
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const double solo_s = median_iteration_s(alone[j]), shared_s = median_iteration_s(shared[j]);
    compared.slowdown_error.push_back(std::abs(simulated / median(together[j]) - 1));
    compared.extra_s += shared_s - solo_s;
    compared.alone_s += solo_s;
    if (has_details)
      std::fprintf(stderr, "; %s: %.4f s alone, slowdown %.3f simulated, %.3f measured", jobs[j].name.c_str(),
                   solo_s, simulated / solo_s, median(together[j]) / solo_s);
  }
  if (has_details) std::fprintf(stderr, "\n");
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
