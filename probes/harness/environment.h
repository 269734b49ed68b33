// What could spoil a measurement on this host: facts read from the kernel, and what to say about them.
//
// Reading and judging are apart. Facts come from files below a root (tests give their own); judging is a pure
// function of the facts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/harness/system_files.h"

namespace sextant {

struct EnvironmentFacts {
  std::string cpu_model;  // of /proc/cpuinfo; "unknown CPU" when it does not say
  int online_cpus = 0;
  bool has_hypervisor = false;
  bool has_avx512 = false;
  std::vector<std::string> governors;  // each distinct frequency governor; empty when the kernel shows none
  std::optional<bool> is_boost_on;     // turbo; nothing when the kernel does not say
  double throttle_events = 0;          // of all CPUs since boot
  bool shows_throttle_events = false;
  std::optional<double> load_average;  // of the last minute
  std::optional<double> quota_cpus;    // CPU time that the control group allows, in CPUs
  double last_level_cache_bytes = 0;   // of one cache; 0 when unknown
  int last_level_cache_cpus = 1;       // that share it
  double second_level_cache_bytes = 0;
  double memory_available_bytes = 0;  // MemAvailable, or less when the control group allows less; 0 unknown

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

// Whether a BLAS that describes itself so uses what the CPU has: an OpenBLAS older than the CPU takes kernels
// for half its vector width.
[[nodiscard]] std::vector<EnvironmentWarning> judge_gemm_library(const EnvironmentFacts& facts,
                                                                 const std::string& library);

// What changed while measuring: throttling.
[[nodiscard]] std::vector<EnvironmentWarning> judge_change(const EnvironmentFacts& before,
                                                           const EnvironmentFacts& after);

}  // namespace sextant
