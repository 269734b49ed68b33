// Conditions of this host that could distort a measurement: facts from the kernel, and warnings about them.
//
// Reading and judging are separate. Facts come from files below a root (tests have their own); judging is a
// pure function of the facts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/harness/system_files.h"

namespace sextant::inline probes {

struct EnvironmentFacts {
  std::string cpu_model;  // from /proc/cpuinfo; "unknown CPU" if it is not stated
  int online_cpus = 0;
  bool has_hypervisor = false;
  bool has_avx512 = false;
  std::vector<std::string> governors;  // each distinct frequency governor; empty if the kernel shows none
  std::optional<bool> is_boost_on;     // turbo; nullopt if the kernel does not report it
  double throttle_events = 0;          // all CPUs since boot
  bool shows_throttle_events = false;
  std::optional<double> load_average;  // over the last minute
  std::optional<double> quota_cpus;    // CPU time that the control group allows, in CPUs
  double last_level_cache_bytes = 0;   // per cache; 0: unknown
  int last_level_cache_cpus = 1;       // CPUs that share it
  double second_level_cache_bytes = 0;
  double memory_available_bytes = 0;  // MemAvailable, or less if the control group allows less; 0: unknown

  friend bool operator==(const EnvironmentFacts&, const EnvironmentFacts&) = default;
};

[[nodiscard]] EnvironmentFacts read_environment(const SystemFiles& files);

struct EnvironmentWarning {
  std::string seen;
  std::string why;
  std::string advice;
  [[nodiscard]] std::string sentence() const;  // "seen: why. Advice."

  friend bool operator==(const EnvironmentWarning&, const EnvironmentWarning&) = default;
};

// ranks: processes of ours on this host; usable_cpus: how many different CPUs they may run on.
[[nodiscard]] std::vector<EnvironmentWarning> judge_environment(const EnvironmentFacts& facts, int ranks,
                                                                int usable_cpus);

// Warns if a BLAS with this description does not use the CPU's full vector width: an OpenBLAS older than the
// CPU selects kernels for half of it.
[[nodiscard]] std::vector<EnvironmentWarning> judge_gemm_library(const EnvironmentFacts& facts,
                                                                 const std::string& library);

// Warns of changes during the measurement: throttling.
[[nodiscard]] std::vector<EnvironmentWarning> judge_change(const EnvironmentFacts& before,
                                                           const EnvironmentFacts& after);

}  // namespace sextant::inline probes
