// One search of several that share nothing: its evaluator, its random numbers, its best plan.
#pragma once

#include <chrono>
#include <map>
#include <random>
#include <vector>

#include "planner/planner.h"
#include "planner/sha_ea/arms.h"
#include "planner/sha_ea/arrangement.h"
#include "planner/sha_ea/climb.h"
#include "planner/sha_ea/deal.h"

namespace sextant {

class Island {
 public:
  // budget: this island's own; `start` is when its seconds began.
  Island(const PlanRequest& request, std::uint64_t seed, const Budget& budget,
         std::chrono::steady_clock::time_point start);

  // Rounds of halving and polishing until the budget is spent.
  void run();

  [[nodiscard]] bool has_plan() const { return has_best_ && best_.score.fits(); }
  [[nodiscard]] const Scored& best() const { return best_; }
  [[nodiscard]] Plan plan(const std::string& name) const { return evaluator_.plan_of(best_.candidate, name); }
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  [[nodiscard]] std::uint64_t feasible() const { return feasible_; }
  [[nodiscard]] const std::vector<Improvement>& improvements() const { return improvements_; }

 private:
  // The EA of one arm.
  struct Individual {
    Deal deal;
    Scored scored;
  };
  struct Arm {
    std::vector<int> sizes;
    std::vector<Individual> population;
    [[nodiscard]] double loss() const;
    [[nodiscard]] const Individual* best() const;
  };
  struct Group {  // a task grouping with its arms
    TaskGrouping grouping;
    std::vector<bool> trains;
    std::vector<Arm> arms;
    [[nodiscard]] double loss() const;
  };

  void round(std::uint64_t budget);
  void halve_arms(Group& group, std::uint64_t budget);
  void evolve(const Group& group, Arm& arm, std::uint64_t evaluations);
  void look_at(const Group& group, Arm& arm, Deal deal);
  [[nodiscard]] const std::vector<UnitClass>& classes() const { return levels_.front(); }
  [[nodiscard]] std::vector<DealtGroups> best_of(const std::vector<Group>& groups) const;
  struct Climbed {
    DealtGroups dealt;
    Scored scored;
  };
  [[nodiscard]] Climbed climbed(DealtGroups dealt, std::size_t level);
  void polish_one(Scored scored, std::uint64_t budget);
  void improve_best(const std::vector<Group>& groups, std::uint64_t budget);
  void note(const Scored& scored);
  [[nodiscard]] std::vector<Group> groups();
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] double seconds() const;

  const PlanRequest& request_;
  Budget budget_;
  std::chrono::steady_clock::time_point start_;
  std::mt19937_64 random_;
  Evaluator evaluator_;
  OptionTable options_;
  Arranger arranger_;
  std::vector<std::vector<UnitClass>> levels_;  // of the size of units, each half of the one before
  std::vector<double> flop_per_s_;              // by class, of a unit
  std::vector<std::vector<double>> nearness_;   // of classes
  std::uint64_t evaluations_ = 0, feasible_ = 0;
  std::map<std::vector<int>, std::size_t> climbs_;  // by grouping
  bool has_best_ = false;
  Scored best_;
  std::vector<Improvement> improvements_;
};

}  // namespace sextant
