// One of several parallel searches, with its own evaluator, random numbers and best plan. They split the work:
// in a round each examines its own groupings, and others in the next round. If permitted, they exchange the
// costs of options on device sets (exchange.h), and nothing else.
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

namespace sextant::inline planner {

// The number of an island and the size of its team.
struct IslandTeam {
  int number = 0;
  int size = 1;
};

class Island {
 public:
  // request: with this island's own budget and seed. It and the exchange must outlive the object. exchange:
  // null if the result must not depend on the timing of other islands.
  explicit Island(const PlanRequest& request, const IslandTeam& team = {}, OptionExchange* exchange = nullptr);

  // The slot that the island yields from time to time; it must outlive the run.
  void take(IslandScheduler::Slot& turn);

  // Runs a short warm start, then rounds of halving and polishing until the budget is spent.
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
    [[nodiscard]] const Individual* best() const;  // null if there is none
    [[nodiscard]] Score score() const;
  };

  void warm_start();
  void round(std::uint64_t budget);
  // Returns the best of all; null if there is none.
  [[nodiscard]] const Individual* halve(std::vector<Group>& groups, std::uint64_t budget);
  void halve_arms(Group& group, std::uint64_t budget);
  [[nodiscard]] UnitAssignment offspring(const Group& group, const Arm& arm);
  void evolve(const Group& group, Arm& arm, std::uint64_t evaluations);
  // Returns false if the assignment was examined before.
  bool look_at(const Group& group, Arm& arm, UnitAssignment deal);
  [[nodiscard]] const std::vector<UnitClass>& classes() const { return levels_.front(); }
  [[nodiscard]] std::vector<DeviceSets> starts_from(const std::vector<Group>& groups);
  // True if plans stay in the space of exact's proofs: groups share all of their units or none, no smaller
  // units, unchanged options.
  [[nodiscard]] bool is_within_unit_space() const { return run_.request().limits.within_unit_space; }
  [[nodiscard]] SetMask sets_that_want_all(const DeviceSets& sharing) const;
  [[nodiscard]] std::vector<Group> groups(const ArmLimits& limits);
  [[nodiscard]] std::vector<Group> own_of(std::vector<Group> groups) const;
  // Keeps at most `maximum` groups.
  void draw(std::vector<Group>& groups, std::size_t maximum);
  // This island's part of `count` within the team.
  [[nodiscard]] std::size_t share_of(std::size_t count) const;
  void add_arms(int used, int idle, const ArmLimits& limits, std::vector<Group>& groups);
  [[nodiscard]] std::vector<bool> trains(const TaskGrouping& grouping) const;

  SearchRun run_;
  IslandTeam team_;
  bool is_told_ = false;  // true if the team exchanges costed options
  std::size_t round_ = 0;
  std::mt19937_64 random_;
  Arranger arranger_;
  std::vector<std::vector<UnitClass>> levels_;      // by unit size, each half of the one before
  std::vector<double> flop_per_s_;                  // by class, of a unit
  std::vector<std::vector<double>> nearness_;       // between classes
  std::map<std::vector<int>, std::size_t> climbs_;  // by grouping
  LocalSearch ascent_;
};

}  // namespace sextant::inline planner
