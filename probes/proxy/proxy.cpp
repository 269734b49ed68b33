#include "probes/proxy/proxy.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>

#include "core/units.h"
#include "probes/proxy/engine.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

enum class Stop { no, spread, iterations, budget };

// Decided by rank 0, whose clock counts.
Stop decide(Communicator& world, const Timing& iteration, double spent_s, const ProxyOptions& options) {
  const auto done = static_cast<int>(iteration.samples_s.size());
  Stop stop = Stop::no;
  if (done >= options.max_iterations) {
    stop = Stop::iterations;
  } else if (spent_s >= options.budget_s && done > 0) {
    stop = Stop::budget;
  } else if (done >= options.min_iterations && iteration.spread_fraction() <= options.target_spread_fraction) {
    stop = Stop::spread;
  }
  world.broadcast(std::as_writable_bytes(std::span(&stop, 1)), 0);
  return stop;
}

std::string sentence(Stop stop, const Timing& iteration, const ProxyOptions& options) {
  const std::string spread = "the median's spread is " + format_percent(iteration.spread_fraction());
  const std::string target = format_percent(options.target_spread_fraction);
  switch (stop) {
    case Stop::spread:
      return spread + ", within the " + target + " asked for";
    case Stop::budget:
      return "the budget of " + format_seconds(options.budget_s) + " is spent; " + spread;
    default:
      return "the most iterations allowed are done; " + spread;
  }
}

// Ranks of a host that has fewer cores disturb each other.
std::string crowding_warning(Communicator& world) {
  const std::vector<std::string> hosts = world.hosts();
  const std::string& mine = hosts[static_cast<std::size_t>(world.rank())];
  const auto here = std::count(hosts.begin(), hosts.end(), mine);
  const auto cores = static_cast<double>(std::thread::hardware_concurrency());
  std::array<double, 1> excess{cores > 0 ? static_cast<double>(here) - cores : 0};
  world.all_reduce_max(std::span<double>(excess));
  if (excess[0] <= 0) return "";
  return "a host has " + format_number(excess[0]) +
         " more ranks than cores, so ranks share cores and times are too long: use one rank per core";
}

// The peak of the device that used the most.
std::optional<double> peak_memory_bytes(Communicator& world, const proxy::TaskEngine& engine) {
  std::array<double, 1> maximum{engine.peak_memory_bytes().value_or(0)};
  world.all_reduce_max(std::span<double>(maximum));
  if (maximum[0] <= 0) return std::nullopt;
  return maximum[0];
}

void record(const ProxySession::Sample& sample, Run& run) {
  run.iteration.samples_s.push_back(sample.iteration_s);
  for (const auto& [task, time_s] : sample.tasks_s) run.tasks[task].samples_s.push_back(time_s);
}

}  // namespace

Run run_proxy(Communicator& world, const Cluster& cluster, const Workflow& workflow, const Plan& plan,
              const ProxyOptions& options) {
  Run run;
  run.name = workflow.name + " / " + plan.name;
  run.cluster = cluster.name();
  run.workflow = workflow.name;
  run.plan = plan.name;
  run.source = RunSource::proxy;
  run.framework = options.framework;

  const std::unique_ptr<proxy::TaskEngine> cores =
      options.engine == nullptr ? proxy::make_host_engine() : nullptr;
  proxy::TaskEngine& engine = cores == nullptr ? *options.engine : *cores;
  ProxySession session(world, cluster, workflow, plan, options.seed, &engine);
  for (int i = 0; i < options.warmup_iterations; ++i) session.iterate(options.gate);
  const auto start = std::chrono::steady_clock::now();
  Stop stop = Stop::no;
  while (stop == Stop::no) {
    record(session.iterate(options.gate), run);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    stop = decide(world, run.iteration, spent.count(), options);
  }

  run.notes["stopped"] = sentence(stop, run.iteration, options);
  run.notes["iterations"] = std::to_string(run.iteration.samples_s.size());
  run.notes["ranks"] = std::to_string(world.size());
  run.notes["transport"] = transport_description();
  run.notes.merge(engine.notes());
  run.peak_memory_bytes = peak_memory_bytes(world, engine);
  if (engine.runs_on_cores()) {
    if (const std::string warning = crowding_warning(world); !warning.empty()) run.notes["warning"] = warning;
  }
  return run;
}

}  // namespace sextant::inline probes
