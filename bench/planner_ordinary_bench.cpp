// Whether ordinary questions get a right answer: `sextant plan` of each, with its default planner and the
// framework's profile, beside the layout that people who ran it write down, under the same model.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "calibrate/families.h"
#include "calibrate/import/records/facts.h"
#include "sextant/document.h"
#include "sextant/planners.h"
#include "sextant/predict.h"
#include "sextant/profile_space.h"
#include "sextant/statistics.h"
#include "tests/planner/ordinary_questions.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using test::OrdinaryQuestion;

constexpr double kBudget_s = 2;

struct Outcome {
  bool recipe_fits = false, is_found = false;
  double recipe_s = 0, plan_s = 0, search_s = 0;
};

Coefficients coefficients_of(const fs::path& data, const std::string& framework) {
  fs::path file = data / "coefficients" / (std::string(family_of_framework(framework)) + ".json");
  if (!fs::exists(file)) file = data / "coefficients" / "any.json";
  return load_document<Coefficients>(file).content;
}

Outcome answer(const OrdinaryQuestion& question, const FrameworkProfile& profile, const Facts& facts,
               const fs::path& data) {
  const Cluster cluster = test::cluster_of(question, facts);
  const Workflow workflow = test::workflow_of(question, facts);
  const Coefficients coefficients = coefficients_of(data, profile.coefficients);
  const Plan recipe = test::recipe_of(question, profile, workflow, cluster);
  Outcome outcome;
  check_plan(recipe, workflow, cluster);
  const Prediction of_recipe = predict(cluster, workflow, recipe, coefficients, profile.coefficients);
  // The recipe must fit with 95 % probability, as `sextant plan` asks of its own answer.
  const double share = std::exp(-kNormal90 * memory_log_deviation(coefficients));
  outcome.recipe_fits = std::all_of(
      of_recipe.memory.begin(), of_recipe.memory.end(),
      [&](const DeviceMemory& device) { return device.needed_bytes() <= share * device.capacity_bytes; });
  outcome.recipe_s = of_recipe.iteration_s;
  PlanRequest request{cluster, workflow, coefficients, profile.coefficients};
  take_profile(profile, LayoutRules::as_framework, request);
  request.budget.seconds = kBudget_s;
  request.threads = 2;
  request.memory_share = share;
  const auto start = std::chrono::steady_clock::now();
  const PlanResult result = find_planner("portfolio")->plan(request);
  outcome.search_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.is_found = result.outcome == PlanOutcome::found;
  if (outcome.is_found) outcome.plan_s = result.prediction->iteration_s;
  if (std::getenv("SEXTANT_SHOW_QUESTIONS") != nullptr)
    std::printf("%-70s recipe %s %8.1f s, plan %8.1f s, ratio %.3f, %.2f s, %s\n", question.name().c_str(),
                outcome.recipe_fits ? "fits" : "NO  ", outcome.recipe_s, outcome.plan_s,
                outcome.plan_s / outcome.recipe_s, outcome.search_s, result.message.c_str());
  return outcome;
}

void ordinary_questions(benchmark::State& state) {
  const fs::path data = SEXTANT_SOURCE_DATA;
  const Facts facts = Facts::load(data / "gpus.json", data / "models.json");
  const std::vector<FrameworkProfile> profiles = load_framework_profiles(data / "frameworks");
  double worst_ratio = 0, longest_s = 0, missed = 0, asked = 0, fits = 0;
  for (auto _ : state) {
    for (const OrdinaryQuestion& question : test::ordinary_questions()) {
      const FrameworkProfile* profile = find_profile(profiles, question.framework);
      if (profile == nullptr) throw std::runtime_error("no profile " + question.framework);
      const Outcome outcome = answer(question, *profile, facts, data);
      ++asked;
      longest_s = std::max(longest_s, outcome.search_s);
      if (!outcome.recipe_fits) continue;
      ++fits;
      if (outcome.is_found) worst_ratio = std::max(worst_ratio, outcome.plan_s / outcome.recipe_s);
      if (!outcome.is_found) ++missed;
    }
  }
  state.counters["gap"] = missed > 0 ? 1e9 : worst_ratio - 1;
  state.counters["target_gap"] = 0;
  state.counters["questions"] = asked;
  state.counters["recipes_that_fit"] = fits;
  state.counters["missed"] = missed;
  state.counters["longest_s"] = longest_s;
}
BENCHMARK(ordinary_questions)->Name("planner.ordinary_worst_ratio")->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace sextant
