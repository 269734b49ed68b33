// Figures of the probe and the tracer measured on H200 machines (data/measured/h200): nothing is fitted.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/in_file.h"
#include "core/json_value.h"
#include "lab/claims/families.h"
#include "sextant/statistics.h"

namespace sextant::claims {
namespace {

void read(const ClaimContext& context, const std::string& file,
          const std::function<void(const JsonView&)>& action) {
  const std::filesystem::path path = context.data / "measured/h200" / file;
  within(path.string(), [&] {
    const Json json = parse_json(read_text_file(path));
    action(JsonView(json));
  });
}

void add(ClaimReport& report, std::string name, std::string protocol, ClaimKind kind, double value,
         double threshold, int records) {
  Claim claim;
  claim.name = std::move(name);
  claim.protocol = std::move(protocol);
  claim.kind = kind;
  claim.value = value;
  claim.threshold = threshold;
  claim.records = records;
  report.claims.push_back(std::move(claim));
}

// ---- tracer ----

// Steps of all runs of one kind.
std::vector<double> steps(const JsonView& loop, const std::string& kind) {
  std::vector<double> out;
  for (const JsonView& run : loop.required(kind + "_step_s").items()) {
    const std::vector<double> more = run.numbers();
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

// The quantile of scripts/measure/gpu_trace_results.py (Hyndman and Fan's type 6): on a host with other users,
// the faster steps are those that were disturbed least.
double lower_quartile(std::vector<double> values) {
  constexpr double kQuarter = 0.25;
  std::sort(values.begin(), values.end());
  const double last = static_cast<double>(values.size()) - 1;
  const double place = std::clamp(kQuarter * (last + 2) - 1, 0.0, last);
  const auto below = static_cast<std::size_t>(place), above = static_cast<std::size_t>(std::ceil(place));
  return values[below] + (place - std::floor(place)) * (values[above] - values[below]);
}

// The slowdown of traced steps.
struct Overhead {
  double by_lower_quartile = 0;
  double by_median = 0;
  int records = 0;
};

Overhead overhead(const std::vector<double>& traced, const std::vector<double>& untraced) {
  return {lower_quartile(traced) / lower_quartile(untraced) - 1, median(traced) / median(untraced) - 1,
          static_cast<int>(traced.size() + untraced.size())};
}

Overhead overhead_of_loop(const JsonView& machine, std::string_view name) {
  const JsonView loop = machine.required("loops").required(name);
  return overhead(steps(loop, "traced"), steps(loop, "untraced"));
}

// The worse of those measured, over all records.
Overhead worst_of(const std::vector<Overhead>& all) {
  Overhead worst{-1, -1, 0};
  for (const Overhead& one : all) {
    worst.by_lower_quartile = std::max(worst.by_lower_quartile, one.by_lower_quartile);
    worst.by_median = std::max(worst.by_median, one.by_median);
    worst.records += one.records;
  }
  return worst;
}

Overhead overhead_of_launches(const std::vector<JsonView>& machines) {
  std::vector<Overhead> all;
  for (const JsonView& machine : machines) {
    for (const JsonView& loop : machine.required("launches").items()) {
      all.push_back(overhead(loop.required("traced").numbers(), loop.required("untraced").numbers()));
    }
  }
  return worst_of(all);
}

}  // namespace

void probe(const ClaimContext& context, ClaimReport& report) {
  constexpr double kMinOfPeer = 0.98, kMax_s = 60;
  read(context, "probe/comparison.json", [&](const JsonView& comparison) {
    const JsonView ratios = comparison.required("ratios");
    const int runs = comparison.required("probe_runs").count(1);
    const auto add_ratio = [&](const char* name, const char* protocol, const char* key) {
      add(report, name, protocol, ClaimKind::at_least, ratios.required(key).positive(), kMinOfPeer, runs);
    };
    add_ratio("probe.gpu.gemm",
              "bf16 GEMM rate of an H200 over PyTorch's best in the same call; measured, nothing is fitted",
              "gemm/bf16");
    add_ratio("probe.gpu.copy",
              "copy rate of an H200's memory over the better of PyTorch's and cudaMemcpy's in the same call",
              "memory/copy");
    const std::vector<double> seconds = comparison.required("probe_seconds").numbers();
    add(report, "probe.gpu.time", "longest probe of a whole H200, as a share of the 60 s that it may take",
        ClaimKind::at_most, *std::max_element(seconds.begin(), seconds.end()) / kMax_s, 1,
        static_cast<int>(seconds.size()));
  });
}

void tracer(const ClaimContext& context, ClaimReport& report) {
  constexpr double kMaximum = 0.03;
  read(context, "trace/overhead.json", [&](const JsonView& measured) {
    const std::vector<JsonView> machines = measured.required("machines").items();
    const JsonView &first = machines.at(0), &second = machines.at(1);
    const auto add_overhead = [&](const char* name, const std::string& protocol, double value, int records) {
      add(report, name, protocol, ClaimKind::at_most, value, kMaximum, records);
    };
    const Overhead graphs = worst_of({overhead_of_loop(first, "a"), overhead_of_loop(first, "c")});
    add_overhead(
        "tracer.graphs",
        "slowdown by sextant trace of a PyTorch GRPO loop that decodes with CUDA graphs, the worse of two, "
        "lower quartiles of steps; measured, nothing is fitted",
        graphs.by_lower_quartile, graphs.records);
    const Overhead eager = overhead_of_loop(first, "eager"), slow = overhead_of_loop(second, "eager");
    add_overhead("tracer.eager.first_host", "the same, all eager, on one H200 host", eager.by_lower_quartile,
                 eager.records);
    add_overhead("tracer.eager.first_host.median", "the same, by medians of steps", eager.by_median,
                 eager.records);
    add_overhead("tracer.eager.second_host", "all eager on another H200 host, lower quartiles",
                 slow.by_lower_quartile, slow.records);
    const Overhead launches = overhead_of_launches(machines);
    add_overhead(
        "tracer.launches",
        "a C++ program that only launches tiny kernels, back to back and 8 us apart, the worst of both "
        "hosts, lower quartiles",
        launches.by_lower_quartile, launches.records);
  });
}

}  // namespace sextant::claims
