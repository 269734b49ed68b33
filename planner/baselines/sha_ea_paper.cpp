#include "planner/baselines/sha_ea_paper.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "planner/baselines/nested_halving.h"
#include "planner/request/shapes.h"
#include "planner/sha_ea/arms.h"
#include "planner/sha_ea/unit_assignment.h"
#include "sextant/search_space.h"

namespace sextant::inline planner {
namespace {

constexpr std::size_t kPopulation = 8;
constexpr std::size_t kMaxArms = 128;       // of a grouping, so that populations stay within a few hundred MB
constexpr std::size_t kMaxGroupings = 512;  // of workflows with more tasks than kMaxListedTasks
constexpr std::size_t kFirstPlans = 32;     // that measure how many plans a wall-clock budget is worth
constexpr double kTrainingMutation = 0.3;
constexpr Score kNoPlan{0, std::numeric_limits<double>::max(), 0, 0};

enum class LowLevels { evolve, are_drawn };

// How the tasklets of a task take the devices of its group.
struct TaskletOrder {
  DeviceOrder order = DeviceOrder::by_replica;
  std::vector<std::uint16_t> places;  // in the group's devices, by tasklet; empty: as `order` says
};

struct TaskGenes {
  int shape = 0;
  TaskletOrder order;
};

// Levels 3 to 5 of a plan.
struct Genotype {
  UnitAssignment deal;
  std::vector<TaskGenes> tasks;
};

struct Individual {
  Genotype genotype;
  Score score;
};

struct Arm {
  const TaskGrouping* grouping = nullptr;
  std::vector<int> sizes;  // devices, by group
  std::vector<Individual> population;
  Score best = kNoPlan;

  [[nodiscard]] const Score& score() const { return best; }
};

class Search {
 public:
  Search(SearchRun& run, LowLevels low_levels)
      : run_(run),
        low_levels_(low_levels),
        limits_(shape_limits_of(run.request())),
        classes_(unit_classes(run.request().cluster, run.request().cluster.device_count())),
        shapes_(run.request().workflow.tasks.size()),
        random_(run.request().seed) {
    const Cluster& cluster = run.request().cluster;
    for (const UnitClass& of_class : classes_) {
      const DeviceId first{of_class.units.front().front()};
      flop_per_s_.push_back(cluster.type_of(first).flop_per_s.at(run.request().workflow.precision).value);
      nearness_.emplace_back();
      for (const UnitClass& other : classes_)
        nearness_.back().push_back(nearness(cluster, first, DeviceId{other.units.back().back()}));
    }
  }

  void run() {
    // With one GPU grouping for each task grouping.
    std::vector<Arms> few = arms({kMaxGroupings, 1});
    std::shuffle(few.begin(), few.end(), random_);
    if (run_.request().budget.evaluations == 0) measure_rate(few);
    const double first_budget = plans_left() / static_cast<double>(few.size() * rounds_of(few.size()));
    // A budget that is too small for all groupings then ends with some of them at random.
    std::vector<Arms> all = arms({kMaxGroupings, std::min(kMaxArms, max_arms_within(first_budget))});
    std::shuffle(all.begin(), all.end(), random_);
    std::vector<HalvedGrouping<Arm>> groupings;
    for (Arms& of_grouping : all) {
      groupings.emplace_back();
      for (std::vector<int>& sizes : of_grouping.sizes)
        groupings.back().arms.push_back({&of_grouping.grouping, std::move(sizes), {}});
    }
    halve_nested<Arm>(groupings, {[this] { return plans_left(); }, [this] { return run_.is_over(); }},
                      [this](Arm& arm, std::uint64_t plans) { search(arm, plans); });
  }

 private:
  // A score of the locality of two devices: the octaves of the slower direction's bandwidth, which is lower for
  // every border between them, of machines, zones or regions.
  static double nearness(const Cluster& cluster, DeviceId first, DeviceId second) {
    if (first == second) return 0;
    return std::log2(
        std::min(cluster.link(first, second).bytes_per_s.value, cluster.link(second, first).bytes_per_s.value));
  }

  [[nodiscard]] std::vector<Arms> arms(const ArmLimits& limits) {
    return arms_of(run_.evaluator().task_count(), run_.request().cluster.device_count(), limits, random_);
  }

  void measure_rate(std::vector<Arms>& few) {
    for (std::size_t k = 0; k < std::min(kFirstPlans, few.size()); ++k) {
      Arm arm{&few[k].grouping, few[k].sizes.front(), {}};
      search(arm, 1);
    }
  }

  [[nodiscard]] double plans_left() const {
    const Budget& budget = run_.request().budget;
    if (budget.evaluations > 0) return static_cast<double>(run_.evaluations_left());
    const double passed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double all_s = budget.seconds > 0 ? budget.seconds : kDefaultSeconds;
    return std::max(0.0, all_s - passed_s) * static_cast<double>(costed_) / passed_s;
  }

  // Every strategy of a task that uses all devices of its group, or as many as any strategy can use.
  [[nodiscard]] const std::vector<int>& shapes_on(std::size_t task, int devices) {
    const auto [entry, is_new] = shapes_[task].try_emplace(devices);
    if (!is_new) return entry->second;
    const Workflow& workflow = run_.request().workflow;
    for (int used = devices; used > 0 && entry->second.empty(); --used) {
      for (const Shape& shape : shapes_of(workflow.tasks[task], workflow, used, limits_))
        entry->second.push_back(run_.evaluator().shapes(static_cast<int>(task)).add(shape));
    }
    return entry->second;
  }

  [[nodiscard]] bool happens(double probability) {
    return static_cast<double>(random_() >> 11U) * 0x1.0p-53 < probability;
  }

  void search(Arm& arm, std::uint64_t plans) {
    for (std::uint64_t k = 0; k < plans && !run_.is_over(); ++k) {
      const bool is_drawn = low_levels_ == LowLevels::are_drawn || arm.population.size() < kPopulation;
      std::optional<Genotype> genotype = is_drawn ? drawn(arm) : offspring(arm);
      if (!genotype) return run_.spend(1);  // a task has no layout on so few devices
      look_at(arm, std::move(*genotype));
    }
  }

  [[nodiscard]] std::optional<Genotype> drawn(const Arm& arm) {
    Genotype genotype;
    genotype.deal = random_assignment(classes_, arm.sizes, random_);
    for (std::size_t t = 0; t < shapes_.size(); ++t) {
      const int devices = devices_of(arm, t);
      const std::vector<int>& shapes = shapes_on(t, devices);
      if (shapes.empty()) return std::nullopt;
      genotype.tasks.push_back({shapes[random_() % shapes.size()], drawn_order(devices)});
    }
    return genotype;
  }

  [[nodiscard]] TaskletOrder drawn_order(int devices) {
    constexpr std::uint64_t kOrders = 3;
    switch (random_() % kOrders) {
      case 0:
        return {DeviceOrder::by_replica, {}};
      case 1:
        return {DeviceOrder::by_stage, {}};
      default: {
        TaskletOrder order;
        order.places.resize(static_cast<std::size_t>(devices));
        std::iota(order.places.begin(), order.places.end(), std::uint16_t{0});
        std::shuffle(order.places.begin(), order.places.end(), random_);
        return order;
      }
    }
  }

  [[nodiscard]] Genotype offspring(const Arm& arm) {
    Genotype genotype = arm.population[random_() % arm.population.size()].genotype;
    const std::size_t t = random_() % genotype.tasks.size();
    constexpr std::uint64_t kLevels = 3;
    switch (random_() % kLevels) {
      case 0:
        mutate_devices(arm, genotype.deal);
        break;
      case 1: {
        const std::vector<int>& shapes = shapes_on(t, devices_of(arm, t));
        genotype.tasks[t].shape = shapes[random_() % shapes.size()];
        break;
      }
      default:
        mutate_order(genotype.tasks[t].order, devices_of(arm, t));
    }
    return genotype;
  }

  void mutate_devices(const Arm& arm, UnitAssignment& deal) {
    if (happens(kTrainingMutation) && give_faster_unit(deal, trains(*arm.grouping), flop_per_s_, random_))
      return;
    (void)exchange_units(deal, random_);
  }

  // Two tasklets change places, or all are drawn again.
  void mutate_order(TaskletOrder& order, int devices) {
    if (order.places.empty() || random_() % 2 == 0) {
      order = drawn_order(devices);
      return;
    }
    const std::size_t count = order.places.size();
    std::swap(order.places[random_() % count], order.places[random_() % count]);
  }

  [[nodiscard]] static int devices_of(const Arm& arm, std::size_t task) {
    return arm.sizes[static_cast<std::size_t>(arm.grouping->group_of[task])];
  }

  // Whether each group trains.
  [[nodiscard]] std::vector<bool> trains(const TaskGrouping& grouping) const {
    std::vector<bool> trains(static_cast<std::size_t>(grouping.groups));
    for (std::size_t t = 0; t < grouping.group_of.size(); ++t) {
      if (run_.request().workflow.tasks[t].kind == TaskKind::training)
        trains[static_cast<std::size_t>(grouping.group_of[t])] = true;
    }
    return trains;
  }

  // The phenotype is what swaps of GPUs between groups make of it. It is costed, and the genotype stays as it
  // was. It takes the place of the worst individual if it is better.
  void look_at(Arm& arm, Genotype genotype) {
    const bool swaps = low_levels_ == LowLevels::evolve;
    const auto devices =
        devices_of_groups(classes_, swaps ? gathered(genotype.deal, nearness_) : genotype.deal);
    Candidate candidate;
    for (std::size_t t = 0; t < genotype.tasks.size(); ++t)
      candidate.tasks.push_back(
          placement(t, genotype.tasks[t], devices[static_cast<std::size_t>(arm.grouping->group_of[t])]));
    const Score score = run_.evaluator().evaluate(candidate);
    run_.note(score);
    ++costed_;
    if (score.is_better_than(arm.best)) arm.best = score;
    if (low_levels_ == LowLevels::evolve) survive(arm.population, {std::move(genotype), score});
  }

  static void survive(std::vector<Individual>& population, Individual individual) {
    if (population.size() < kPopulation) {
      population.push_back(std::move(individual));
      return;
    }
    const auto worst = std::max_element(
        population.begin(), population.end(),
        [](const Individual& a, const Individual& b) { return a.score.is_better_than(b.score); });
    if (individual.score.is_better_than(worst->score)) *worst = std::move(individual);
  }

  [[nodiscard]] Placement placement(std::size_t task, const TaskGenes& genes,
                                    const std::vector<std::uint16_t>& devices) {
    const Shape& shape = run_.evaluator().shapes(static_cast<int>(task)).at(genes.shape);
    std::vector<std::uint16_t> ordered(devices);
    for (std::size_t place = 0; place < genes.order.places.size(); ++place)
      ordered[place] = devices[genes.order.places[place]];
    ordered.resize(static_cast<std::size_t>(shape.devices()));
    return placed(shape, genes.shape, genes.order.order, ordered);
  }

  static constexpr double kDefaultSeconds = 1;

  SearchRun& run_;
  LowLevels low_levels_;
  ShapeLimits limits_;
  std::vector<UnitClass> classes_;                       // of single devices
  std::vector<double> flop_per_s_;                       // by class
  std::vector<std::vector<double>> nearness_;            // of classes
  std::vector<std::map<int, std::vector<int>>> shapes_;  // by task, then devices of its group
  std::mt19937_64 random_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t costed_ = 0;
};

PlanResult plan(const PlanRequest& request, LowLevels low_levels, const std::string& name) {
  require_time_alone(request.objective, name);
  require_no_pins(request.limits.pins, name);
  SearchRun run(request, 1);
  Search(run, low_levels).run();
  return run.result(name);
}

}  // namespace

PlanResult plan_by_sha_ea_paper(const PlanRequest& request) {
  return plan(request, LowLevels::evolve, "sha-ea-paper");
}

PlanResult plan_by_sha_random(const PlanRequest& request) {
  return plan(request, LowLevels::are_drawn, "sha-random");
}

}  // namespace sextant::inline planner
