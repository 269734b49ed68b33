// How much sooner the program on two MPI ranks is at a plan that is as good.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/json_value.h"
#include "planner/sha_ea/island.h"
#include "sextant/search.h"
#include "tests/planner/planning_instances.h"

namespace sextant {
namespace {

using test::Instance;

constexpr std::uint64_t kSeeds = 5;
constexpr double kGood = 1.01;  // of the best that any of the searches found

// Documents of one instance, and the program on them.
class Command {
 public:
  explicit Command(const Instance& instance)
      : folder_(std::filesystem::temp_directory_path() / ("sextant_ranks_" + std::to_string(getpid()))) {
    save_document(folder_ / "cluster.json", instance.cluster);
    save_document(folder_ / "workflow.json", instance.workflow);
  }
  ~Command() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // One thread on each rank.
  [[nodiscard]] SearchRecord search(int ranks, double budget_s, std::uint64_t seed) const {
    const std::string in = folder_.string() + "/", out = in + "search.json";
    const std::string line = SEXTANT_LAUNCHER " -n " + std::to_string(ranks) + " " SEXTANT_PROGRAM +
                             " plan --coefficients none --threads 1 --cluster " + in + "cluster.json" +
                             " --workflow " + in + "workflow.json --budget " + std::to_string(budget_s) +
                             " --seed " + std::to_string(seed) + " --search-out " + out + " > " + in +
                             "printed 2>&1";
    if (std::system(line.c_str()) != 0) throw std::runtime_error("failed: " + line);
    return load_document<SearchRecord>(out).content;
  }

 private:
  std::filesystem::path folder_;
};

// Until a plan was as good; a search that never got there counts whole, which pulls the ratio towards one, the
// less the longer the budget is.
double seconds_until(const SearchRecord& search, double good_s) {
  for (const Improvement& point : search.curve) {
    if (point.iteration_s <= good_s) return point.seconds;
  }
  return search.budget_s.value();
}

// The ratio of the times of one rank to those of two, each summed over seeds.
double speedup_on(const Instance& instance, double budget_s) {
  const Command command(instance);
  std::array<std::vector<SearchRecord>, 2> searches;  // of one rank, of two
  double best_s = std::numeric_limits<double>::infinity();
  for (std::size_t more : {0U, 1U}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      searches[more].push_back(command.search(static_cast<int>(more) + 1, budget_s, seed));
      best_s = std::min(best_s, searches[more].back().iteration_s);
    }
  }
  std::array<double, 2> sums{};
  for (std::size_t more : {0U, 1U}) {
    for (const SearchRecord& search : searches[more]) sums[more] += seconds_until(search, kGood * best_s);
  }
  return sums[0] / sums[1];
}

using Curve = std::vector<Improvement>;

Curve curve_of(const Instance& instance, std::uint64_t evaluations, std::uint64_t seed,
               const IslandTeam& team) {
  const Coefficients coefficients;
  PlanRequest request{instance.cluster, instance.workflow, coefficients};
  request.budget.evaluations = evaluations;
  request.seed = seed;
  Island island(request, team);
  island.run();
  return island.search().result("bench").improvements;
}

double evaluations_until(const Curve& curve, double good_s, std::uint64_t budget) {
  for (const Improvement& point : curve) {
    if (point.loss <= good_s) return static_cast<double>(point.evaluations);
  }
  return static_cast<double>(budget);
}

// The same by the evaluations of a rank, which other work on the machine does not change: one island, or the
// first of two that share the work, each with half the budget.
double speedup_by_evaluations(const Instance& instance, std::uint64_t budget) {
  std::vector<Curve> alone, together;
  double best_s = std::numeric_limits<double>::infinity();
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    alone.push_back(curve_of(instance, budget, 2 * seed, {}));
    for (const int number : {0, 1})
      together.push_back(
          curve_of(instance, budget / 2, 2 * seed + static_cast<std::uint64_t>(number), {number, 2}));
  }
  for (const std::vector<Curve>* curves : {&alone, &together}) {
    for (const Curve& curve : *curves) best_s = std::min(best_s, curve.back().loss);
  }
  double one = 0, two = 0;
  for (std::size_t s = 0; s < alone.size(); ++s) {
    one += evaluations_until(alone[s], kGood * best_s, budget);
    two += std::min(evaluations_until(together[2 * s], kGood * best_s, budget / 2),
                    evaluations_until(together[2 * s + 1], kGood * best_s, budget / 2));
  }
  return one / two;
}

// Root, containers: what Open MPI would refuse.
void let_open_mpi_run() {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) setenv(name, "1", 0);
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
}

// The geometric mean over instances of 24 and of 64 GPUs.
void mpi_speedup(benchmark::State& state) {
  let_open_mpi_run();
  double log_seconds = 0, log_evaluations = 0;
  int count = 0;
  for (auto _ : state) {
    const auto add = [&](const std::vector<Instance>& instances, double budget_s, std::uint64_t evaluations) {
      for (const Instance& instance : instances) {
        log_seconds += std::log(speedup_on(instance, budget_s));
        log_evaluations += std::log(speedup_by_evaluations(instance, evaluations));
        ++count;
      }
    };
    add(test::instances_of_24(), 4, 200'000);
    add(test::instances_of_64(), 6, 400'000);
  }
  state.counters["speedup"] = std::exp(log_seconds / count);
  state.counters["by_evaluations"] = std::exp(log_evaluations / count);
  state.counters["target_speedup"] = 2;
}
// The mean over the same instances and seeds of how much worse plans of two ranks in half the time are than
// those of one rank in the whole time. Unlike the ratio above, it needs no quality that a search may never
// reach.
void mpi_half_time_gap(benchmark::State& state) {
  let_open_mpi_run();
  constexpr std::uint64_t kPairs = 10;  // of searches, by seed
  double log_ratios = 0;
  int better = 0, worse = 0;
  for (auto _ : state) {
    const auto add = [&](const std::vector<Instance>& instances, double budget_s) {
      for (const Instance& instance : instances) {
        const Command command(instance);
        for (std::uint64_t seed = 1; seed <= kPairs; ++seed) {
          const double one_s = command.search(1, budget_s, seed).iteration_s;
          const double two_s = command.search(2, budget_s / 2, seed).iteration_s;
          log_ratios += std::log(two_s / one_s);
          constexpr double kAlike = 1e-6;
          if (two_s < one_s * (1 - kAlike)) ++better;
          if (two_s > one_s * (1 + kAlike)) ++worse;
        }
      }
      return instances.size() * kPairs;
    };
    const std::size_t pairs = add(test::instances_of_24(), 1) + add(test::instances_of_64(), 2);
    log_ratios /= static_cast<double>(pairs);
  }
  state.counters["gap"] = std::exp(log_ratios) - 1;
  state.counters["better"] = better;
  state.counters["worse"] = worse;
  state.counters["target_gap"] = 0;
}

BENCHMARK(mpi_half_time_gap)
    ->Name("planner.mpi_half_time_gap")
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->Repetitions(1);
BENCHMARK(mpi_speedup)->Name("planner.mpi_speedup")->Unit(benchmark::kSecond)->Iterations(1)->Repetitions(1);

}  // namespace
}  // namespace sextant
