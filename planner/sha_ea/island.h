// One search of several: its evaluator, its random numbers, its best plan. They share the work: in a round each
// looks at groupings of its own, and at others in the next; and where they may, they tell each other what
// options on sets of devices cost (exchange.h), and nothing else.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "planner/search/island_scheduler.h"
#include "planner/search/search_run.h"
#include "planner/sha_ea/arms.h"
#include "planner/sha_ea/arrangement.h"
#include "planner/sha_ea/local_search.h"
#include "planner/sha_ea/population.h"
#include "planner/sha_ea/unit_assignment.h"

namespace sextant {

// Which island of how many.
struct IslandTeam {
  int number = 0;
  int size = 1;
};

class Island {
 public:
  // request: with this island's own budget and seed; must outlive it, as must the exchange. exchange: null
  // where what it finds must not depend on when others find something.
  explicit Island(const PlanRequest& request, const IslandTeam& team = {}, OptionExchange* exchange = nullptr);

  // It passes its turn on now and then; outlives the run.
  void take(IslandScheduler::Slot& turn);

  // A glance, then rounds of halving and polishing until the budget is spent.
  void run();

  [[nodiscard]] const SearchRun& search() const { return run_; }

 private:
  struct Arm {
    std::vector<int> sizes;
    Population population;
    [[nodiscard]] Score score() const { return population.score(); }
  };
  struct Group {  // a task grouping with its arms
    TaskGrouping grouping;
    std::vector<bool> trains;
    std::vector<Arm> arms;
    [[nodiscard]] const Individual* best() const;  // null where there is none
    [[nodiscard]] Score score() const;
  };

  void warm_start();
  void round(std::uint64_t budget);
  // The best of all; null where there is none.
  [[nodiscard]] const Individual* halve(std::vector<Group>& groups, std::uint64_t budget);
  void halve_arms(Group& group, std::uint64_t budget);
  [[nodiscard]] UnitAssignment offspring(const Group& group, const Arm& arm);
  void evolve(const Group& group, Arm& arm, std::uint64_t evaluations);
  // False where it was seen before.
  bool look_at(const Group& group, Arm& arm, UnitAssignment deal);
  [[nodiscard]] const std::vector<UnitClass>& classes() const { return levels_.front(); }
  [[nodiscard]] std::vector<DeviceSets> starts_from(const std::vector<Group>& groups);
  // What exact proves about: groups that share all of their units or none, no smaller units, options as they
  // are.
  [[nodiscard]] bool is_within_unit_space() const { return run_.request().limits.within_unit_space; }
  [[nodiscard]] SetMask sets_that_want_all(const DeviceSets& sharing) const;
  [[nodiscard]] std::vector<Group> groups(const ArmLimits& limits);
  [[nodiscard]] std::vector<Group> own_of(std::vector<Group> groups) const;
  // Leaves so many.
  void draw(std::vector<Group>& groups, std::size_t maximum);
  // What is left to one island of the team.
  [[nodiscard]] std::size_t share_of(std::size_t count) const;
  void add_arms(int used, int idle, const ArmLimits& limits, std::vector<Group>& groups);
  [[nodiscard]] std::vector<bool> trains(const TaskGrouping& grouping) const;

  SearchRun run_;
  IslandTeam team_;
  bool is_told_ = false;  // what others of the team look at
  std::size_t round_ = 0;
  std::mt19937_64 random_;
  Arranger arranger_;
  std::vector<std::vector<UnitClass>> levels_;      // of the size of units, each half of the one before
  std::vector<double> flop_per_s_;                  // by class, of a unit
  std::vector<std::vector<double>> nearness_;       // of classes
  std::map<std::vector<int>, std::size_t> climbs_;  // by grouping
  LocalSearch ascent_;
};

}  // namespace sextant
