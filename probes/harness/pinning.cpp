#include "probes/harness/pinning.h"

#include <sched.h>

namespace sextant::inline probes {
namespace {

bool restrict_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::optional<int> choose_cpu(const std::vector<int>& allowed, int nth_rank) {
  if (allowed.empty()) return std::nullopt;
  return allowed[static_cast<std::size_t>(nth_rank) % allowed.size()];
}

Pinned::Pinned(int nth_rank) : allowed_before_(allowed_cpus()) {
  const auto cpu = choose_cpu(allowed_before_, nth_rank);
  if (cpu && restrict_to({*cpu})) cpu_ = cpu;
}

Pinned::~Pinned() {
  if (cpu_) restrict_to(allowed_before_);
}

}  // namespace sextant::inline probes
