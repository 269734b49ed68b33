// sextant proxy: runs short real iterations of plans and records how long they took.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "cli/ask/inputs.h"
#include "cli/command_line/checks.h"
#include "cli/probe/permit_gate.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/progress.h"
#include "core/units.h"
#include "documents/experiments.h"
#include "probes/gpu/gpu_engine.h"
#include "probes/gpu/gpu_self_check.h"
#include "probes/proxy/engine.h"
#include "probes/proxy/proxy.h"
#include "probes/proxy/simplify.h"
#include "sextant/error.h"
#include "sextant/run.h"

namespace sextant::cli {
namespace {

// The devices that compute; "auto" follows the cluster's devices.
constexpr const char* kAuto = "auto";
constexpr const char* kCpu = "cpu";
constexpr const char* kGpu = "gpu";

struct Options {
  std::string cluster;
  std::string experiments;
  std::string workflow;  // together with plan: one experiment
  std::string plan;
  std::string out = "runs.json";
  ProxyOptions proxy;
  int passes = 1;
  bool interleave = false;
  bool resume = false;
  bool keep_going = false;
  bool self_check = false;
  std::string device = kAuto;
  bool json = false;
  PermitOptions permits;
};

bool has_gpus(const Cluster& cluster) {
  const auto& types = cluster.device_types();
  return std::any_of(types.begin(), types.end(),
                     [](const auto& type) { return type.second.kind == DeviceKind::gpu; });
}

// Null: CPU cores.
std::unique_ptr<proxy::TaskEngine> make_engine(const Options& options, const Cluster& cluster,
                                               Communicator& ranks) {
  const bool wants_gpus = options.device == kGpu || (options.device == kAuto && has_gpus(cluster));
  if (!wants_gpus) return nullptr;
  GpuEngineOrReason made = make_gpu_engine(ranks);
  if (made.engine != nullptr) return std::move(made.engine);
  const std::string whose = options.device == kGpu ? "--device gpu" : "the cluster's devices are GPUs";
  throw_machine_failed(whose + " and " + made.reason);
}

// Exit code 0: all agree, 1: some do not, 3: there is no GPU to check.
int check_device(const Options& options) {
  Communicator& ranks = world();
  const GpuChecksOrReason result = check_gpu_proxy(ranks);
  if (!result.reason.empty()) throw_machine_failed("--self-check: " + result.reason);
  const auto failed = std::count_if(result.checks.begin(), result.checks.end(),
                                    [](const GpuCheck& check) { return !check.passed(); });
  if (ranks.rank() != 0) return failed == 0 ? kDone : kAnswerIsNo;
  Table table({"check", "value", "at most", ""});
  for (const GpuCheck& check : result.checks) {
    table.add({check.name, format_number(check.value), format_number(check.tolerance),
               check.passed() ? "" : "FAILED"});
  }
  if (!options.json) std::fputs(table.text().c_str(), stdout);
  print_line(std::to_string(result.checks.size()) + " checks of the GPU against CPU cores, " +
             std::to_string(failed) + " failed");
  return failed == 0 ? kDone : kAnswerIsNo;
}

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

Experiments load_experiments(const Options& options) {
  if (options.experiments.empty() == options.workflow.empty() ||
      options.workflow.empty() != options.plan.empty()) {
    throw_bad_input("give either --experiments FILE or both --workflow FILE and --plan FILE");
  }
  if (!options.experiments.empty()) return load_document<Experiments>(options.experiments).content;
  Experiments one;
  const Workflow workflow = load_document<Workflow>(options.workflow).content;
  Plan plan = load_document<Plan>(options.plan).content;
  const std::vector<std::string> assumed = fill_in_unstated(plan, workflow);
  if (world().rank() == 0) {
    for (const std::string& sentence : assumed) std::fprintf(stderr, "%s\n", sentence.c_str());
  }
  one.workflows[workflow.name] = workflow;
  one.plans[plan.name] = plan;
  one.experiments.push_back({workflow.name + "/" + plan.name, workflow.name, plan.name});
  return one;
}

// Every plan is checked before the first is run.
void check_experiments(const Experiments& all, const Cluster& cluster, const std::string& file) {
  for (const Experiment& experiment : all.experiments) {
    try {
      check_plan(all.plans.at(experiment.plan), all.workflows.at(experiment.workflow), cluster);
    } catch (const Error& error) {
      throw Error(error.kind(),
                  file + ": experiment " + experiment.name + ": plan " + experiment.plan + ": " + error.what());
    }
  }
}

// The experiments as the proxy runs them; what it leaves out of a plan is said once.
Experiments simplified(Experiments all, const proxy::EngineLimits& limits, bool says_so) {
  std::map<std::string, Plan> plans;
  std::set<std::string> said;
  for (Experiment& experiment : all.experiments) {
    const Workflow& workflow = all.workflows.at(experiment.workflow);
    proxy::SimplifiedPlan simple = proxy::simplify(all.plans.at(experiment.plan), workflow, limits);
    // Budgets of tokens are other micro-batches for another workflow.
    const auto known = plans.find(experiment.plan);
    if (known != plans.end() && known->second != simple.plan) {
      experiment.plan += " of " + experiment.workflow;
      simple.plan.name = experiment.plan;
    }
    plans[experiment.plan] = simple.plan;
    for (const std::string& sentence : simple.left_out) {
      if (says_so && said.insert(sentence).second)
        std::fprintf(stderr, "note: %s: the proxy does not support this\n", sentence.c_str());
    }
  }
  all.plans = std::move(plans);
  return all;
}

constexpr const char* kPasses = "passes";  // note: how often the experiment was visited

Run* find_run(Runs& runs, const std::string& name) {
  const auto found =
      std::find_if(runs.runs.begin(), runs.runs.end(), [&](const Run& run) { return run.name == name; });
  return found == runs.runs.end() ? nullptr : &*found;
}

int passes_done(Runs& runs, const std::string& name) {
  const Run* run = find_run(runs, name);
  if (run == nullptr) return 0;
  const auto note = run->notes.find(kPasses);
  return note == run->notes.end() ? 1 : std::atoi(note->second.c_str());
}

Runs start_runs(const Options& options, const Cluster& cluster) {
  Runs runs;
  if (options.resume && std::filesystem::exists(options.out)) runs = load_document<Runs>(options.out).content;
  runs.clusters[cluster.name()] = cluster;
  return runs;
}

// Adds a run, or the samples of another pass to the run that is there.
void record(Runs& runs, const Experiments& all, const Experiment& experiment, Run run) {
  runs.workflows[experiment.workflow] = all.workflows.at(experiment.workflow);
  runs.plans[experiment.plan] = all.plans.at(experiment.plan);
  run.name = experiment.name;
  run.workflow = experiment.workflow;
  run.plan = experiment.plan;
  const int passes = passes_done(runs, experiment.name) + 1;
  run.notes[kPasses] = std::to_string(passes);
  Run* known = find_run(runs, experiment.name);
  if (known == nullptr) {
    runs.runs.push_back(std::move(run));
    return;
  }
  const auto append = [](Timing& to, const Timing& from) {
    to.samples_s.insert(to.samples_s.end(), from.samples_s.begin(), from.samples_s.end());
  };
  append(known->iteration, run.iteration);
  for (const auto& [task, timing] : run.tasks) append(known->tasks[task], timing);
  known->notes = std::move(run.notes);
}

void say_interrupted(const Options& options) {
  std::fprintf(stderr, "interrupted: finished runs are in %s; --resume measures the rest\n",
               options.out.c_str());
}

// The run, or nothing where it fails and the others should go on.
std::optional<Run> measure(Communicator& ranks, const Options& options, const Experiments& all,
                           const Experiment& experiment, const Cluster& cluster,
                           std::vector<std::string>& failed) {
  try {
    return run_proxy(ranks, cluster, all.workflows.at(experiment.workflow), all.plans.at(experiment.plan),
                     options.proxy);
  } catch (const Error& error) {
    // With several ranks the others may be waiting for this one.
    if (!options.keep_going || ranks.size() > 1) throw;
    failed.push_back(experiment.name);
    std::fprintf(stderr, "sextant: experiment %s: %s\n", experiment.name.c_str(), error.what());
    return std::nullopt;
  }
}

// One experiment after another, saved after each; several passes over all of them, so that a disturbance of the
// machine falls on one pass of an experiment and not on all its samples.
bool measure_in_turn(Communicator& ranks, const Options& options, const Experiments& all,
                     const Cluster& cluster, Runs& runs, std::vector<std::string>& failed) {
  const std::size_t visits = all.experiments.size() * static_cast<std::size_t>(options.passes);
  Progress progress("proxy", ranks.rank() == 0 ? visits : 0);
  for (int pass = 1; pass <= options.passes; ++pass) {
    for (const Experiment& experiment : all.experiments) {
      if (passes_done(runs, experiment.name) >= pass) continue;
      if (ranks.rank() == 0) progress.step(experiment.name);
      std::optional<Run> run = measure(ranks, options, all, experiment, cluster, failed);
      if (run) record(runs, all, experiment, std::move(*run));
      if (run && ranks.rank() == 0) save_document(options.out, runs);
      double stop = interrupted;
      ranks.all_reduce_max(std::span<double>(&stop, 1));
      if (stop > 0) return false;
    }
  }
  return true;
}

// All experiments in rounds, so that the machine's drift falls on each alike.
bool measure_interleaved(Communicator& ranks, const Options& options, const Experiments& all,
                         const Cluster& cluster, Runs& runs) {
  std::vector<Experiment> todo;
  for (const Experiment& experiment : all.experiments) {
    if (passes_done(runs, experiment.name) == 0) todo.push_back(experiment);
  }
  std::vector<std::unique_ptr<ProxySession>> sessions;
  sessions.reserve(todo.size());
  std::vector<Run> measured(todo.size());
  for (const Experiment& experiment : todo) {
    sessions.push_back(std::make_unique<ProxySession>(ranks, cluster, all.workflows.at(experiment.workflow),
                                                      all.plans.at(experiment.plan), options.proxy.seed,
                                                      options.proxy.engine));
  }
  const int rounds = options.proxy.max_iterations;
  Progress progress("proxy",
                    ranks.rank() == 0 ? static_cast<std::size_t>(rounds + options.proxy.warmup_iterations) : 0);
  for (int round = -options.proxy.warmup_iterations; round < rounds; ++round) {
    if (ranks.rank() == 0) progress.step("round " + std::to_string(round + 1));
    for (std::size_t e = 0; e < todo.size(); ++e) {
      // Every other round backwards: no plan always follows the same neighbour.
      const std::size_t at = round % 2 == 0 ? e : todo.size() - 1 - e;
      const ProxySession::Sample sample = sessions[at]->iterate();
      if (round < 0) continue;
      measured[at].iteration.samples_s.push_back(sample.iteration_s);
      for (const auto& [task, time_s] : sample.tasks_s) measured[at].tasks[task].samples_s.push_back(time_s);
    }
    double stop = interrupted;
    ranks.all_reduce_max(std::span<double>(&stop, 1));
    if (stop > 0) return false;
  }
  for (std::size_t e = 0; e < todo.size(); ++e) {
    measured[e].cluster = cluster.name();
    measured[e].source = RunSource::proxy;
    measured[e].framework = options.proxy.framework;
    measured[e].notes["stopped"] =
        std::to_string(rounds) + " rounds interleaved with " + std::to_string(todo.size() - 1) + " other plans";
    record(runs, all, todo[e], std::move(measured[e]));
  }
  if (ranks.rank() == 0) save_document(options.out, runs);
  return true;
}

std::string describe(const Runs& runs) {
  Table table({"run", "iteration", "spread", "iterations", "slowest task"});
  for (const Run& run : runs.runs) {
    const auto slowest = std::max_element(run.tasks.begin(), run.tasks.end(), [](const auto& a, const auto& b) {
      return a.second.median_s() < b.second.median_s();
    });
    table.add(
        {run.name, format_seconds(run.iteration.median_s()), format_percent(run.iteration.spread_fraction()),
         std::to_string(run.iteration.samples_s.size()),
         slowest == run.tasks.end() ? "" : slowest->first + " " + format_seconds(slowest->second.median_s())});
  }
  return table.text();
}

int run(Options options) {
  if (options.json) keep_stdout_for_documents();
  if (options.self_check) return check_device(options);
  if (options.cluster.empty()) throw_bad_input("give --cluster FILE, from sextant probe");
  const Cluster cluster = load_document<Cluster>(options.cluster).content;
  const Experiments asked = load_experiments(options);
  check_experiments(asked, cluster, options.experiments.empty() ? options.plan : options.experiments);
  Communicator& ranks = world();
  const std::unique_ptr<proxy::TaskEngine> engine = make_engine(options, cluster, ranks);
  options.proxy.engine = engine.get();
  const Experiments all =
      simplified(asked, engine ? engine->limits() : proxy::EngineLimits{}, ranks.rank() == 0);
  const std::unique_ptr<PhaseGate> gate = permit_gate(options.permits, ranks);
  if (gate != nullptr && (options.interleave || all.experiments.size() > 1))
    throw_bad_input("--permits: a job is one experiment, without --interleave");
  options.proxy.gate = gate.get();
  Runs runs = start_runs(options, cluster);
  std::vector<std::string> failed;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  const bool finished = options.interleave ? measure_interleaved(ranks, options, all, cluster, runs)
                                           : measure_in_turn(ranks, options, all, cluster, runs, failed);
  if (ranks.rank() != 0) return finished ? kDone : kMachineFailed;
  if (!finished) {
    say_interrupted(options);
    return kMachineFailed;
  }
  if (options.json) {
    print_document(runs);
  } else {
    std::fputs(describe(runs).c_str(), stdout);
  }
  if (!failed.empty()) {
    std::fprintf(stderr, "%zu of %zu experiments failed; --resume tries them again\n", failed.size(),
                 all.experiments.size());
    return kMachineFailed;
  }
  say_wrote(options.out);
  return kDone;
}

}  // namespace

void add_proxy(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command =
      line.add_command("proxy", "Run and time the real operations of a plan; each MPI rank is one device");
  command.add_option("--cluster", options->cluster, "Cluster document, from sextant probe");
  command.add_option("--experiments", options->experiments,
                     "Experiments document with several workflows and plans");
  command.add_option("--workflow", options->workflow, "Workflow document of a single experiment");
  command.add_option("--plan", options->plan, "Plan document of a single experiment");
  command.add_output("--out", options->out, "Runs document to write; updated after every experiment")
      .shows_default();
  command.add_flag("--resume", options->resume,
                   "Keep the runs that are already in the output and measure the rest");
  command
      .add_option(
          "--passes", options->passes,
          "Number of passes over all experiments; spreads disturbances that last longer than one experiment")
      .check(positive_number())
      .shows_default();
  command.add_flag("--interleave", options->interleave,
                   "Measure in rounds over all experiments, to compare plans; keeps all of them in memory");
  command.add_option("--warmup", options->proxy.warmup_iterations, "Warm-up iterations, which are not counted")
      .check(non_negative_number())
      .shows_default();
  command.add_option("--min-iterations", options->proxy.min_iterations, "Minimum number of iterations")
      .check(positive_number())
      .shows_default();
  command
      .add_option("--max-iterations", options->proxy.max_iterations,
                  "Maximum number of iterations (of rounds with --interleave)")
      .check(positive_number())
      .shows_default();
  command
      .add_option("--spread", options->proxy.target_spread_fraction,
                  "Stop when half the 95 % interval of the median iteration time is below this fraction of it")
      .check(non_negative_number())
      .shows_default();
  command.add_option("--budget", options->proxy.budget_s, "Time limit in seconds for one experiment")
      .check(positive_number())
      .shows_default();
  command
      .add_option("--device", options->device,
                  "Devices that compute: cpu (fp32), gpu (bf16), or auto (as in the cluster document)")
      .check(one_of({kAuto, kCpu, kGpu}))
      .shows_default();
  command.add_flag(
      "--keep-going", options->keep_going,
      "With one rank: report experiments that fail, run the others, and exit with code 3 at the end");
  command.add_flag("--self-check", options->self_check,
                   "Only compare the tasks on the GPU with those on the CPU, on small models; several ranks "
                   "also check GPUs that share one");
  command.add_option("--seed", options->proxy.seed, "Random seed for weights and prompts").shows_default();
  command.add_flag("--json", options->json, "Print the runs document instead of a table");
  add_permit_options(command, options->permits);
  command.footer(
      "A plan on one device needs no launcher; a plan on devices 0 to n - 1 needs n ranks.\n"
      "With --permits the phases of every iteration wait for permits of sextant coschedule run.\n"
      "Example: mpirun -n 2 sextant proxy --cluster cluster.json --workflow workflow.json --plan plan.json");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
