#include "planner/coschedule/workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "core/csv.h"
#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

// Bounds of uniform distributions, in seconds.
struct Range {
  double low, high;
};
struct Size {
  Range rollout, training;
};
// Table 6: small, medium and large jobs by profile.
constexpr std::array<std::array<Size, 3>, 3> kSizes = {{
    {{{{50, 100}, {50, 100}}, {{100, 200}, {100, 200}}, {{200, 300}, {200, 300}}}},
    {{{{100, 200}, {25, 50}}, {{200, 400}, {50, 100}}, {{400, 600}, {100, 200}}}},
    {{{{25, 50}, {100, 200}}, {{50, 100}, {200, 400}}, {{100, 200}, {400, 600}}}},
}};

// Numbers that do not depend on the standard library.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) {
    std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U),
                           static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32U)};
    engine_.seed(sequence);
  }
  double uniform() { return static_cast<double>(engine_() >> 11U) * 0x1.0p-53; }
  double within(Range range) { return range.low + (range.high - range.low) * uniform(); }
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }
  double log_normal(double mean, double sigma) {
    constexpr double kTwoPi = 6.283185307179586;
    const double normal = std::sqrt(-2 * std::log1p(-uniform())) * std::cos(kTwoPi * uniform());
    return mean * std::exp(sigma * normal - sigma * sigma / 2);
  }
  std::size_t below(std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(uniform() * static_cast<double>(count)));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace

Pools weave_pools() {
  constexpr double kTerabyte = 1e12;
  Pools pools;
  pools.rollout = {"H20-96GB", 8, 2 * kTerabyte, 1.85, 0};
  pools.training = {"H800", 8, 2 * kTerabyte, 5.28, 0};
  return pools;
}

Job drawn_job(Profile profile, double min_slowdown, double max_slowdown, std::uint64_t seed,
              std::uint64_t number) {
  Draws draws(seed, number);
  const std::size_t kind =
      profile == Profile::mixed ? draws.below(kSizes.size()) : static_cast<std::size_t>(profile);
  const Size& size = kSizes.at(kind).at(draws.below(3));
  Job job;
  job.name = "job-" + std::to_string(number + 1);
  job.rollout_s = draws.within(size.rollout);
  job.training_s = draws.within(size.training);
  job.max_slowdown = draws.within({min_slowdown, max_slowdown});
  return job;
}

JobTrace drawn_trace(const TraceRules& rules, const Pools& pools) {
  JobTrace trace{pools, {}};
  Draws draws(rules.seed, ~std::uint64_t{0});
  double now_s = 0;
  for (int j = 0; j < rules.jobs; ++j) {
    Job job = drawn_job(rules.profile, rules.min_slowdown, rules.max_slowdown, rules.seed,
                        static_cast<std::uint64_t>(j));
    now_s += draws.exponential(rules.mean_gap_s);
    job.arrival_s = now_s;
    job.duration_s = draws.log_normal(rules.mean_duration_s, rules.duration_sigma);
    job.typical_fraction = rules.typical_fraction;
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

JobTrace trace_of_csv(std::string_view csv, const TraceRules& rules, const Pools& pools) {
  JobTrace trace{pools, {}};
  double last_s = 0;
  const CsvTable table = parse_csv(csv, "trace");
  for (const CsvRow& row : table.rows()) {
    Job job = drawn_job(rules.profile, rules.min_slowdown, rules.max_slowdown, rules.seed, trace.jobs.size());
    job.name = row.text("job");
    job.arrival_s = row.non_negative("arrival_s");
    job.duration_s = row.positive("duration_s");
    job.typical_fraction = rules.typical_fraction;
    if (job.arrival_s < last_s) throw_bad_input(row.place() + ": arrival_s is earlier than in the row before");
    last_s = job.arrival_s;
    trace.jobs.push_back(std::move(job));
  }
  if (trace.jobs.empty()) throw_bad_input("the trace has no jobs");
  return trace;
}

}  // namespace sextant::coschedule
