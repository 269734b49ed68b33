#include <algorithm>

#include "core/units.h"
#include "probes/harness/environment.h"

namespace sextant::inline probes {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string ranks_text(int ranks) { return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"); }

using Warnings = std::vector<EnvironmentWarning>;

void judge_frequency(const EnvironmentFacts& facts, int ranks, Warnings& warnings) {
  const bool is_steady = std::all_of(facts.governors.begin(), facts.governors.end(),
                                     [](const std::string& governor) { return governor == "performance"; });
  if (!is_steady) {
    warnings.push_back({"the CPU frequency governor is " + joined(facts.governors),
                        "the clock follows the load, so short measurements run slower than long ones",
                        "Select the performance governor (cpupower frequency-set -g performance)"});
  }
  if (facts.is_boost_on == true && ranks < facts.online_cpus) {
    warnings.push_back({"boost is on and " + std::to_string(facts.online_cpus - ranks) + " of " +
                            std::to_string(facts.online_cpus) + " CPUs have no rank",
                        "busy CPUs clock higher while others idle, so a job on all CPUs will be slower",
                        "Probe with as many ranks as the job will have, or switch boost off"});
  }
  if (facts.throttle_events > 0) {
    warnings.push_back({"the CPUs have throttled " + format_number(facts.throttle_events) + " times since boot",
                        "a hot host slows down in the middle of a measurement",
                        "Check its cooling and power limits"});
  }
}

void judge_cpus(const EnvironmentFacts& facts, int ranks, int usable_cpus, Warnings& warnings) {
  if (usable_cpus < ranks) {
    warnings.push_back({ranks_text(ranks) + " on a host where they may use " + std::to_string(usable_cpus) +
                            (usable_cpus == 1 ? " CPU" : " CPUs"),
                        "ranks take turns on a CPU, and every rate is a fraction of the real one",
                        "Start at most one rank for each CPU"});
  }
  if (facts.quota_cpus && *facts.quota_cpus < ranks) {
    warnings.push_back(
        {"the container may use " + format_number(*facts.quota_cpus) + " CPUs of time for " + ranks_text(ranks),
         "the kernel stops the ranks when the quota of a period is used up",
         "Raise the CPU quota of the container, or start fewer ranks"});
  }
  if (facts.load_average && *facts.load_average > ranks) {
    warnings.push_back({"the load average of the last minute is " + format_number(*facts.load_average) +
                            " with " + ranks_text(ranks) + " of ours",
                        "other programs take CPU time and memory bandwidth from the measurement",
                        "Wait until the host is idle and probe again"});
  }
}

}  // namespace

std::string EnvironmentWarning::sentence() const { return seen + ": " + why + ". " + advice + "."; }

std::vector<EnvironmentWarning> judge_environment(const EnvironmentFacts& facts, int ranks, int usable_cpus) {
  Warnings warnings;
  judge_frequency(facts, ranks, warnings);
  judge_cpus(facts, ranks, usable_cpus, warnings);
  if (facts.has_hypervisor) {
    warnings.push_back({"the host is a virtual machine",
                        "neighbours on the same hardware can take time and memory bandwidth unseen",
                        "Trust the spread of each number, and repeat the probe at another time of day"});
  }
  return warnings;
}

std::vector<EnvironmentWarning> judge_gemm_library(const EnvironmentFacts& facts, const std::string& library) {
  if (!facts.has_avx512) return {};
  for (const char* core : {"Haswell", "Zen", "Sandybridge", "Nehalem", "Prescott"}) {
    if ((" " + library + " ").find(" " + std::string(core) + " ") == std::string::npos) continue;
    return {
        {"the CPU has AVX-512 but OpenBLAS uses its kernels for " + std::string(core),
         "matrix products run at a fraction of what the CPU can do",
         "Install a newer OpenBLAS, or set OPENBLAS_CORETYPE=SKYLAKEX for the probe and for the jobs alike"}};
  }
  return {};
}

std::vector<EnvironmentWarning> judge_change(const EnvironmentFacts& before, const EnvironmentFacts& after) {
  const double events = after.throttle_events - before.throttle_events;
  if (events <= 0) return {};
  return {{"the CPUs throttled " + format_number(events) + " times during the probe",
           "what was measured then is slower than the host can be, or faster than it can sustain",
           "Check cooling and power limits, and probe again"}};
}

}  // namespace sextant::inline probes
