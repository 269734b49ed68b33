// Ten thousand hosts in four regions of eight zones: which pairs to measure, and an estimate of all others.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "sextant/statistics.h"
#include "tests/probes/assembly/simulated_fleet.h"

namespace sextant {
namespace {

constexpr int kUnmeasured = 100000;

SimulatedFleet large_fleet() {
  return SimulatedFleet({.hosts = 10000,
                         .regions = 4,
                         .zones_per_region = 8,
                         .adapters_bytes_per_s = {3e9, 12e9},
                         .slow_fraction = 0.01,
                         .has_distances = true,
                         .crowded_zones = 0.1,
                         .slip_fraction = 0.01});
}

void schedule_10000(benchmark::State& state) {
  const SimulatedFleet fleet = large_fleet();
  PairRounds rounds;
  for (auto _ : state) rounds = schedule_pairs(fleet.places);
  state.counters["pairs"] = static_cast<double>(all_of(rounds).size());
  state.counters["rounds"] = static_cast<double>(rounds.size());
}
BENCHMARK(schedule_10000)->Name("fleet.schedule_10000_s")->Unit(benchmark::kSecond);

// Each host a zone of its own, and racks of eight.
void schedule_10000_of_zones(benchmark::State& state) {
  std::vector<HostPlace> places;
  for (int host = 0; host < 10000; ++host) {
    const std::string zone = std::to_string(host / static_cast<int>(state.range(0)));
    places.push_back({"host" + std::to_string(host), "region", "zone" + zone});
  }
  PairRounds rounds;
  for (auto _ : state) rounds = schedule_pairs(places);
  state.counters["pairs"] = static_cast<double>(all_of(rounds).size());
  state.counters["rounds"] = static_cast<double>(rounds.size());
}
BENCHMARK(schedule_10000_of_zones)
    ->Name("fleet.schedule_10000_small_zones_s")
    ->Arg(1)
    ->Arg(8)
    ->Unit(benchmark::kSecond);

// Errors are |log(estimated / measured)| of pairs that were never measured; noise alone has 0.0593 at its 90 %.
void fit_10000(benchmark::State& state) {
  const SimulatedFleet fleet = large_fleet();
  const std::vector<RankPair> pairs = all_of(schedule_pairs(fleet.places));
  const std::vector<PairSample> samples = measure(fleet, pairs, PairQuantity::bytes_per_s);
  const std::vector<RankPair> unmeasured = never_measured(fleet, pairs, kUnmeasured);
  std::vector<double> errors;
  std::size_t covered = 0;
  for (auto _ : state) {
    const PairModel model = PairModel::fit(fleet.places, samples, PairQuantity::bytes_per_s);
    state.PauseTiming();
    errors.clear();
    covered = 0;
    for (const RankPair& pair : unmeasured) {
      errors.push_back(std::abs(std::log(model.predict(pair) / fleet.measured_bytes_per_s(pair))));
      covered += errors.back() <= model.log_error_90(fleet.groups.level_of(pair)).value_or(0) ? 1 : 0;
    }
    state.ResumeTiming();
  }
  state.counters["pairs"] = static_cast<double>(pairs.size());
  state.counters["error_p50"] = median(errors);
  state.counters["error_p90"] = quantile(errors, 0.9);
  state.counters["covered_fraction"] = static_cast<double>(covered) / kUnmeasured;
}
BENCHMARK(fit_10000)->Name("fleet.fit_10000_s")->Unit(benchmark::kSecond);

}  // namespace
}  // namespace sextant
