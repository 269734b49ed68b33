#include "planner/coschedule/trace/workload.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "core/csv.h"
#include "planner/coschedule/draws.h"
#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

struct Size {
  Range rollout, training;
};
// Table 6, in seconds: small, medium and large jobs by profile.
constexpr std::array<std::array<Size, 3>, 3> kSizes = {{
    {{{{50, 100}, {50, 100}}, {{100, 200}, {100, 200}}, {{200, 300}, {200, 300}}}},
    {{{{100, 200}, {25, 50}}, {{200, 400}, {50, 100}}, {{400, 600}, {100, 200}}}},
    {{{{25, 50}, {100, 200}}, {{50, 100}, {200, 400}}, {{100, 200}, {400, 600}}}},
}};

}  // namespace

Pools weave_pools() {
  constexpr double kTerabyte = 1e12;
  Pools pools;
  constexpr double kGigabit = 1e9 / 8;  // per second; section 6.1
  pools.connection_bytes_per_s = 20 * kGigabit;
  pools.rollout = {"H20-96GB", 8, 2 * kTerabyte, 1.85, 0, 400 * kGigabit};
  pools.training = {"H800", 8, 2 * kTerabyte, 5.28, 0, 400 * kGigabit};
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

std::optional<Responses> drawn_responses(const TraceRules& rules) {
  if (rules.response_median <= 0) return std::nullopt;
  constexpr double kMaxTokens = 8192;  // as in Table 3; only ratios to it matter
  Responses responses;
  responses.tokens.kind = LengthKind::lognormal;
  responses.tokens.median = rules.response_median * kMaxTokens;
  responses.tokens.sigma = rules.response_sigma;
  responses.tokens.max = kMaxTokens;
  return responses;
}

namespace {

// Sets whatever the rules say about every job; `number` is its stream of draws.
void apply(const TraceRules& rules, std::uint64_t number, Job& job) {
  constexpr std::uint64_t kDriftStreams = std::uint64_t{1} << 40U;
  constexpr double kMemoryRatio = 4.0 / 3.35;  // Table 1: decode reads memory, at 4 TB/s on H20, 3.35 on H800
  job.typical_fraction = rules.typical_fraction;
  job.responses = drawn_responses(rules);
  job.colocated_rollout_s = job.rollout_s * kMemoryRatio;
  job.length_drift = drift_template(rules.drift, Draws(rules.seed, kDriftStreams + number).uniform());
}

}  // namespace

namespace {

// The time to the next arrival: of the same burst, or of the next.
double gap_s(const TraceRules& rules, Draws& draws) {
  constexpr double kWithin_s = 60;
  if (rules.mean_burst <= 1) return draws.exponential(rules.mean_gap_s);
  if (draws.uniform() >= 1 / rules.mean_burst) return draws.exponential(kWithin_s);
  return draws.exponential(
      std::max(kWithin_s, rules.mean_burst * rules.mean_gap_s - (rules.mean_burst - 1) * kWithin_s));
}

}  // namespace

JobTrace drawn_trace(const TraceRules& rules, const Pools& pools) {
  JobTrace trace{pools, {}};
  Draws draws(rules.seed, ~std::uint64_t{0});
  double now_s = 0;
  for (int j = 0; j < rules.jobs; ++j) {
    Job job = drawn_job(rules.profile, rules.min_slowdown, rules.max_slowdown, rules.seed,
                        static_cast<std::uint64_t>(j));
    now_s += gap_s(rules, draws);
    job.arrival_s = now_s;
    job.duration_s = draws.log_normal(rules.mean_duration_s, rules.duration_sigma);
    apply(rules, static_cast<std::uint64_t>(j), job);
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

JobTrace trace_of_csv(std::string_view csv, const TraceRules& rules, const Pools& pools) {
  JobTrace trace{pools, {}};
  double last_s = 0;
  std::set<std::string> names;
  const CsvTable table = parse_csv(csv, "trace");
  for (const CsvRow& row : table.rows()) {
    Job job = drawn_job(rules.profile, rules.min_slowdown, rules.max_slowdown, rules.seed, trace.jobs.size());
    job.name = row.text("job");
    const char* arrival = row.has_column("arrival") && !row.has_column("arrival_s") ? "arrival" : "arrival_s";
    const char* duration =
        row.has_column("duration") && !row.has_column("duration_s") ? "duration" : "duration_s";
    job.arrival_s = row.non_negative(arrival);
    job.duration_s = row.positive(duration);
    constexpr double kMax_s = 1e12;  // as in documents
    if (job.arrival_s > kMax_s || job.duration_s > kMax_s)
      throw_bad_input(row.place() + ": arrival_s and duration_s are at most 1e12 s");
    if (!names.insert(job.name).second)
      throw_bad_input(row.place() + ": another job has the name \"" + job.name + "\"");
    apply(rules, trace.jobs.size(), job);
    if (job.arrival_s < last_s) throw_bad_input(row.place() + ": arrival_s is earlier than in the row before");
    last_s = job.arrival_s;
    trace.jobs.push_back(std::move(job));
  }
  if (trace.jobs.empty()) throw_bad_input("the trace has no jobs");
  return trace;
}

}  // namespace sextant::coschedule
