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
#include "costmodel/vocabulary/search.h"
#include "tests/planner/planning_instances.h"

namespace sextant {
namespace {

using testing::Instance;

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

// By the clock and, of each rank, by evaluations, which other work on the machine does not change.
struct Effort {
  double seconds = 0;
  double evaluations = 0;
};

// Until a plan was as good; a search that never got there counts whole.
Effort until(const SearchRecord& search, int ranks, double good_s) {
  const auto first = std::find_if(search.curve.begin(), search.curve.end(),
                                  [&](const Improvement& point) { return point.iteration_s <= good_s; });
  if (first == search.curve.end())
    return {search.budget_s.value(), static_cast<double>(search.candidates) / ranks};
  return {first->seconds, static_cast<double>(first->evaluations) / ranks};
}

// Of one rank over those of two, each summed over seeds.
Effort speedup_on(const Instance& instance, double budget_s) {
  const Command command(instance);
  std::array<std::vector<SearchRecord>, 2> searches;  // of one rank, of two
  double best_s = std::numeric_limits<double>::infinity();
  for (const int ranks : {1, 2}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const SearchRecord& search =
          searches[static_cast<std::size_t>(ranks - 1)].emplace_back(command.search(ranks, budget_s, seed));
      best_s = std::min(best_s, search.iteration_s);
    }
  }
  std::array<Effort, 2> sums;
  for (const int ranks : {1, 2}) {
    Effort& sum = sums[static_cast<std::size_t>(ranks - 1)];
    for (const SearchRecord& search : searches[static_cast<std::size_t>(ranks - 1)]) {
      const Effort one = until(search, ranks, kGood * best_s);
      sum.seconds += one.seconds;
      sum.evaluations += one.evaluations;
    }
  }
  return {sums[0].seconds / sums[1].seconds, sums[0].evaluations / sums[1].evaluations};
}

// The geometric mean over instances of 24 and of 64 GPUs.
void mpi_speedup(benchmark::State& state) {
  // Root, containers: what Open MPI would refuse.
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) setenv(name, "1", 0);
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  double log_seconds = 0, log_evaluations = 0;
  int count = 0;
  for (auto _ : state) {
    const auto add = [&](const std::vector<Instance>& instances, double budget_s) {
      for (const Instance& instance : instances) {
        const Effort speedup = speedup_on(instance, budget_s);
        log_seconds += std::log(speedup.seconds);
        log_evaluations += std::log(speedup.evaluations);
        ++count;
      }
    };
    add(testing::instances_of_24(), 1);
    add(testing::instances_of_64(), 5);
  }
  state.counters["speedup"] = std::exp(log_seconds / count);
  state.counters["by_evaluations"] = std::exp(log_evaluations / count);
  state.counters["target_speedup"] = 2;
}
BENCHMARK(mpi_speedup)->Name("planner.mpi_speedup")->Unit(benchmark::kSecond)->Iterations(1)->Repetitions(1);

}  // namespace
}  // namespace sextant
