#include "planner/baselines/sha_ilp.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "planner/baselines/nested_halving.h"
#include "planner/exact/ilp.h"
#include "planner/sha_ea/arms.h"
#include "sextant/error.h"
#include "sextant/search_space.h"

namespace sextant::inline planner {
namespace {

constexpr int kWantedUnits = 8;             // as ExactLimits has it
constexpr std::size_t kMaxArms = 128;       // of a grouping
constexpr std::size_t kMaxGroupings = 512;  // of workflows with more tasks than kMaxListedTasks
constexpr double kDefaultSeconds = 1;
constexpr double kMicroseconds = 1e6;  // in a second
constexpr double kMinSlice_s = 1;      // of an arm: shorter ones end before a solver has found a plan
constexpr Score kNoPlan{0, std::numeric_limits<double>::max(), 0, 0};

struct Arm {
  IlpGroups groups;
  std::optional<Candidate> found = {};
  Score best = kNoPlan;
  bool is_solved = false;

  [[nodiscard]] const Score& score() const { return best; }
};

class Search {
 public:
  Search(SearchRun& run, const MilpSolver& solver)
      : run_(run),
        solver_(solver),
        space_(run.request(), kWantedUnits),
        sync_(space_),
        random_(run.request().seed) {}

  void run() {
    const std::size_t groupings = arms({kMaxGroupings, 1}).size();
    const double slice = counts_nodes() ? 1 : kMinSlice_s * kMicroseconds;
    const std::size_t max_arms =
        max_arms_within(left() / slice / static_cast<double>(groupings * rounds_of(groupings)));
    std::vector<Arms> all = arms({kMaxGroupings, std::min(kMaxArms, max_arms)});
    // A budget that is too small for all groupings then ends with some of them at random.
    std::shuffle(all.begin(), all.end(), random_);
    std::vector<HalvedGrouping<Arm>> halved;
    for (Arms& of_grouping : all) {
      std::shuffle(of_grouping.sizes.begin(), of_grouping.sizes.end(), random_);
      halved.emplace_back();
      for (std::vector<int>& units : of_grouping.sizes)
        halved.back().arms.push_back({{of_grouping.grouping, std::move(units)}});
    }
    halve_nested<Arm>(halved, {[this] { return left(); }, [this] { return run_.is_over(); }},
                      [this](Arm& arm, std::uint64_t budget) { solve(arm, budget); });
  }

  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

 private:
  [[nodiscard]] bool counts_nodes() const { return run_.request().budget.evaluations > 0; }

  [[nodiscard]] std::vector<Arms> arms(const ArmLimits& limits) {
    int units = 0;
    for (const UnitClass& of_class : space_.classes()) units += of_class.count();
    return arms_of(space_.tasks(), units, limits, random_);
  }

  // Nodes, or microseconds.
  [[nodiscard]] double left() const {
    if (counts_nodes()) return static_cast<double>(run_.evaluations_left());
    const double all_s = run_.request().budget.seconds > 0 ? run_.request().budget.seconds : kDefaultSeconds;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return std::max(0.0, all_s - passed.count()) * kMicroseconds;
  }

  void solve(Arm& arm, std::uint64_t budget) {
    if (arm.is_solved || run_.is_over()) return;
    IlpQuestion question{arm.found};
    if (counts_nodes()) {
      question.budget.evaluations = std::min(budget, run_.evaluations_left());
    } else {
      question.budget.seconds = std::max(kMinSlice_s, static_cast<double>(budget) / kMicroseconds);
    }
    IlpModel model(space_, sync_);
    model.fix_groups(arm.groups);
    const IlpAnswer answer = solve_ilp(space_, sync_, model, question, solver_);
    nodes_ += answer.nodes;
    arm.is_solved = answer.is_proved;
    if (answer.nodes > 1) run_.spend(answer.nodes - 1);
    if (!answer.found) return run_.spend(1);
    arm.found = answer.found;
    const Score score = space_.evaluator().evaluate(*answer.found);
    run_.note(score, [&] { return space_.evaluator().plan_of(*answer.found, "sha-ilp"); });
    if (score.is_better_than(arm.best)) arm.best = score;
  }

  SearchRun& run_;
  const MilpSolver& solver_;
  UnitSpace space_;
  SyncCost sync_;
  std::mt19937_64 random_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t nodes_ = 0;
};

}  // namespace

PlanResult plan_by_sha_ilp(const PlanRequest& request) {
  require_time_alone(request.objective, "sha-ilp");
  require_no_pins(request.limits.pins, "sha-ilp");
  const std::unique_ptr<MilpSolver> solver = make_milp_solver();
  if (solver == nullptr)
    throw_bad_input(
        "this build has no MILP solver: install coinor-libcbc-dev and configure with SEXTANT_CBC=ON, or plan "
        "by "
        "sha-ea-paper");
  SearchRun run(request, kDefaultSeconds);
  std::string reason = size_limit_reason(request.cluster, kWantedUnits, {});
  if (!reason.empty()) {
    PlanResult result = run.result("sha-ilp", reason);
    result.outcome = PlanOutcome::too_large;
    return result;
  }
  Search search(run, *solver);
  search.run();
  PlanResult result = run.result("sha-ilp");
  result.nodes = search.nodes();
  return result;
}

}  // namespace sextant::inline planner
