#include "probes/host/memory_probe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "core/units.h"
#include "probes/harness/random_data.h"
#include "probes/host/memory_kernels.h"

namespace sextant::inline probes {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kTimesTheCache = 4;
constexpr double kMinBytes = 64 * kMiB;
constexpr double kMaxBytes = 1024 * kMiB;
constexpr double kAssumedCacheBytes = 64 * kMiB;
constexpr double kScalar = 3.0;  // STREAM's
constexpr std::size_t kLineBytes = 64;

// Aligned to a cache line, so that no vector load crosses one.
struct Line {
  alignas(kLineBytes) double values[kLineBytes / sizeof(double)];
};

class Array {
 public:
  Array(double bytes, std::uint64_t seed) : lines_(static_cast<std::size_t>(bytes) / kLineBytes) {
    RandomStream random(seed);
    for (Line& line : lines_) {
      for (double& value : line.values) value = random.uniform();
    }
  }
  [[nodiscard]] double* data() { return lines_.front().values; }
  [[nodiscard]] const double* data() const { return lines_.front().values; }
  [[nodiscard]] std::size_t count() const { return lines_.size() * (kLineBytes / sizeof(double)); }
  [[nodiscard]] double bytes() const { return static_cast<double>(lines_.size() * kLineBytes); }

 private:
  std::vector<Line> lines_;
};

Sampled sample(const ProbeContext& context, std::function<void()> operation) {
  return take_samples(context.sampling, timed(*context.clock, std::move(operation)), *context.clock,
                      context.agreement);
}

ProbeResult checked(ProbeResult result, bool is_right) {
  return is_right ? result
                  : failed_result(std::move(result), "the data was wrong after the loop: faulty memory?");
}

ProbeResult measure_copy(Array& to, const Array& from, const ProbeContext& context) {
  const std::size_t count = from.count();
  ProbeResult result = rate_result("memory/copy", "bytes/s", 2 * from.bytes(),
                                   sample(context, [&] { copy_of(to.data(), from.data(), count); }));
  return checked(std::move(result), std::equal(from.data(), from.data() + count, to.data()));
}

bool is_triad_right(const Array& a, const Array& b, const Array& c) {
  for (std::size_t at = 0; at < a.count(); ++at) {
    const double expected = b.data()[at] + kScalar * c.data()[at];
    // One rounding more or less: the loop may use a fused multiply-add.
    const double tolerance = 4 * std::numeric_limits<double>::epsilon() * std::abs(expected);
    if (!(std::abs(a.data()[at] - expected) <= tolerance)) return false;
  }
  return true;
}

ProbeResult measure_triad(Array& a, const Array& b, const Array& c, const ProbeContext& context) {
  auto operation = [&] { triad(a.data(), b.data(), c.data(), kScalar, a.count()); };
  ProbeResult result = rate_result("memory/triad", "bytes/s", 3 * a.bytes(), sample(context, operation));
  return checked(std::move(result), is_triad_right(a, b, c));
}

ProbeResult measure_read(const std::string& name, const Array& array, const ProbeContext& context) {
  // Volatile: each sum must really be made.
  volatile double sum = 0;
  Sampled sampled = sample(context, [&] { sum = sum_of(array.data(), array.count()); });
  ProbeResult result = rate_result(name, "bytes/s", array.bytes(), std::move(sampled));
  long double expected = 0;
  for (std::size_t at = 0; at < array.count(); ++at) expected += static_cast<long double>(array.data()[at]);
  // All terms are positive, so the relative error is at most the length of a chain of additions.
  const double tolerance = static_cast<double>(array.count()) * std::numeric_limits<double>::epsilon() *
                           static_cast<double>(expected);
  return checked(std::move(result), std::abs(sum - static_cast<double>(expected)) <= tolerance);
}

void note_small(const MemorySizes& sizes, ProbeResult& result) {
  if (sizes.is_far_beyond_cache || !result.has_value()) return;
  result.sentence += "; arrays of " + format_bytes(sizes.main_bytes) +
                     " are less than four times the last-level cache, so part of this may be the cache's rate";
}

}  // namespace

MemorySizes choose_memory_sizes(const EnvironmentFacts& facts, int ranks, double limit_bytes) {
  const double cache_bytes =
      facts.last_level_cache_bytes > 0 ? facts.last_level_cache_bytes : kAssumedCacheBytes;
  MemorySizes sizes;
  sizes.main_bytes = std::min({std::max(kTimesTheCache * cache_bytes, kMinBytes), kMaxBytes, limit_bytes / 4});
  sizes.is_far_beyond_cache = sizes.main_bytes >= kTimesTheCache * cache_bytes;
  sizes.second_level_bytes = facts.second_level_cache_bytes / 2;
  const int sharers = std::clamp(ranks, 1, facts.last_level_cache_cpus);
  sizes.last_level_bytes = std::min(facts.last_level_cache_bytes / 2 / sharers, limit_bytes / 4);
  return sizes;
}

std::vector<ProbeResult> measure_memory(const MemorySizes& sizes, const ProbeContext& context) {
  std::vector<ProbeResult> results;
  if (!context.agreement(sizes.main_bytes >= static_cast<double>(kLineBytes))) {
    for (const char* name : {"memory/copy", "memory/triad", "memory/read"}) {
      results.push_back(waived_result(name, "bytes/s", "there is no memory left to measure with"));
    }
    return results;
  }
  {
    Array a(sizes.main_bytes, 1);
    const Array b(sizes.main_bytes, 2);
    const Array c(sizes.main_bytes, 3);
    results.push_back(measure_copy(a, b, context));
    results.push_back(measure_triad(a, b, c, context));
    results.push_back(measure_read("memory/read", b, context));
    for (ProbeResult& result : results) note_small(sizes, result);
  }
  const std::pair<const char*, double> caches[] = {{"memory/read/llc", sizes.last_level_bytes},
                                                   {"memory/read/l2", sizes.second_level_bytes}};
  for (const auto& [name, bytes] : caches) {
    if (context.agreement(bytes >= static_cast<double>(kLineBytes))) {
      results.push_back(measure_read(name, Array(bytes, 4), context));
    } else {
      results.push_back(waived_result(name, "bytes/s", "the kernel does not say how large this cache is"));
    }
  }
  return results;
}

}  // namespace sextant::inline probes
