#include "probes/harness/environment.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

namespace sextant::inline probes {
namespace {

const std::string kCpus = "/sys/devices/system/cpu";

void read_cpuinfo(const SystemFiles& files, EnvironmentFacts& facts) {
  facts.cpu_model = "unknown CPU";
  std::istringstream lines(files.text("/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    const std::string value = line.substr(std::min(line.size(), colon + 2));
    if (line.starts_with("processor\t") || line.starts_with("processor ")) ++facts.online_cpus;
    if (line.starts_with("model name") && !value.empty()) facts.cpu_model = value;
    if (line.starts_with("flags")) {
      facts.has_hypervisor = (" " + value + " ").find(" hypervisor ") != std::string::npos;
      facts.has_avx512 = (" " + value + " ").find(" avx512f ") != std::string::npos;
    }
  }
}

void read_frequency(const SystemFiles& files, EnvironmentFacts& facts) {
  std::set<std::string> governors;
  for (const std::string& cpu : files.list(kCpus)) {
    const std::string folder = kCpus + "/" + cpu;
    if (const auto governor = files.text(folder + "/cpufreq/scaling_governor")) governors.insert(*governor);
    for (const char* counter : {"core_throttle_count", "package_throttle_count"}) {
      const auto count = files.number(folder + "/thermal_throttle/" + counter);
      if (!count) continue;
      facts.shows_throttle_events = true;
      facts.throttle_events += *count;
    }
  }
  facts.governors.assign(governors.begin(), governors.end());
  if (const auto no_turbo = files.number(kCpus + "/intel_pstate/no_turbo")) facts.is_boost_on = *no_turbo == 0;
  if (const auto boost = files.number(kCpus + "/cpufreq/boost")) facts.is_boost_on = *boost != 0;
}

void read_caches(const SystemFiles& files, EnvironmentFacts& facts) {
  int last_level = 0;
  const std::string folder = kCpus + "/cpu0/cache";
  for (const std::string& index : files.list(folder)) {
    const std::string cache = folder + "/" + index;
    const int level = static_cast<int>(files.number(cache + "/level").value_or(0));
    if (level == 0 || files.text(cache + "/type") == "Instruction") continue;
    const double size_bytes = parse_cache_size(files.text(cache + "/size").value_or("0"));
    if (level == 2) facts.second_level_cache_bytes = size_bytes;
    if (level < last_level) continue;
    last_level = level;
    facts.last_level_cache_bytes = size_bytes;
    const auto shared_by = parse_cpu_list(files.text(cache + "/shared_cpu_list").value_or("0"));
    facts.last_level_cache_cpus = std::max(1, static_cast<int>(shared_by.size()));
  }
}

// The control group's folder of the unified hierarchy, from a line "0::/some/path".
std::string unified_group(const SystemFiles& files) {
  std::istringstream lines(files.text("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return "/";
}

void keep_smaller(std::optional<double>& limit, double value) {
  limit = std::min(limit.value_or(value), value);
}

// Version 2 writes "max 100000" or "200000 100000" (quota and period in microseconds); version 1 two files.
void read_cpu_quota(const SystemFiles& files, EnvironmentFacts& facts) {
  for (const std::string& group : {std::string("/"), unified_group(files)}) {
    std::istringstream fields(files.text("/sys/fs/cgroup" + group + "/cpu.max").value_or("max"));
    double quota_us = 0;
    double period_us = 0;
    if (fields >> quota_us >> period_us && period_us > 0) keep_smaller(facts.quota_cpus, quota_us / period_us);
  }
  const auto quota_us = files.number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  const auto period_us = files.number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota_us && period_us && *quota_us > 0 && *period_us > 0) {
    keep_smaller(facts.quota_cpus, *quota_us / *period_us);
  }
}

std::optional<double> memory_left_bytes(const SystemFiles& files, const std::string& limit,
                                        const std::string& used) {
  const auto limit_bytes = files.number(limit);  // nothing when it says "max"
  const auto used_bytes = files.number(used);
  if (!limit_bytes || !used_bytes) return std::nullopt;
  return std::max(0.0, *limit_bytes - *used_bytes);
}

void read_memory(const SystemFiles& files, EnvironmentFacts& facts) {
  std::optional<double> available_bytes;
  std::istringstream lines(files.text("/proc/meminfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("MemAvailable:")) available_bytes = std::strtod(line.c_str() + 13, nullptr) * 1024;
  }
  for (const std::string& group : {std::string("/"), unified_group(files)}) {
    const std::string folder = "/sys/fs/cgroup" + group;
    const auto left = memory_left_bytes(files, folder + "/memory.max", folder + "/memory.current");
    if (left) keep_smaller(available_bytes, *left);
  }
  const std::string folder = "/sys/fs/cgroup/memory/memory.";
  const auto left = memory_left_bytes(files, folder + "limit_in_bytes", folder + "usage_in_bytes");
  if (left) keep_smaller(available_bytes, *left);
  facts.memory_available_bytes = available_bytes.value_or(0);
}

}  // namespace

EnvironmentFacts read_environment(const SystemFiles& files) {
  EnvironmentFacts facts;
  read_cpuinfo(files, facts);
  read_frequency(files, facts);
  read_caches(files, facts);
  read_cpu_quota(files, facts);
  read_memory(files, facts);
  facts.load_average = files.number("/proc/loadavg");
  return facts;
}

}  // namespace sextant::inline probes
