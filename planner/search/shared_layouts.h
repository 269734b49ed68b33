// The best layouts and options that several tasks can share, with the devices of each task as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "planner/search/search_run.h"

namespace sextant::inline planner {

// The part of a placement that the tasks of one engine have in common.
struct SharedLayout {
  std::vector<std::uint16_t> devices;  // by position
  std::vector<int> layers;             // by stage
  int width = 1;
  int replicas = 1;
  int context_parallel = 1, expert_parallel = 1, expert_tensor_parallel = 0;

  friend auto operator<=>(const SharedLayout&, const SharedLayout&) = default;
};

using TaskNumbers = std::vector<std::size_t>;

// Searches the layout of a set of tasks on the devices of its first task; a set may be one task.
class LayoutsOfSet {
 public:
  // True if a task may have this shape.
  using Filter = std::function<bool(std::size_t task, int shape)>;

  // References must outlive the object.
  LayoutsOfSet(const PlanRequest& request, SearchTables& tables, TaskNumbers tasks);

  [[nodiscard]] const TaskNumbers& tasks() const { return tasks_; }

  // The candidate with the best layout of this set whose placements pass the filter, which need not fit in
  // memory; everything else is as in the candidate. Layouts that any of the tasks would choose alone are tried,
  // and the one of the first candidate. Empty if the tasks have none in common.
  [[nodiscard]] std::optional<Candidate> best(const Candidate& candidate, const Filter& filter);

  // The same with the placements that need the least memory. If several tasks are too large at their peak, changing
  // one of them alone gains nothing: a search for what fits begins here.
  [[nodiscard]] std::optional<Candidate> leanest(const Candidate& candidate, const Filter& filter);

 private:
  struct Timed {
    Placement placement;
    std::optional<double> time_s = {};  // of the task alone; absent: not costed yet
    double bytes = 0;                   // resident and working, the largest of its devices
  };
  // The placements of each task of the set, fastest first; empty if a task has none with this layout.
  using Placements = std::vector<std::vector<const Timed*>>;

  [[nodiscard]] std::size_t max_layouts() const;
  [[nodiscard]] std::vector<SharedLayout> promising(const Candidate& candidate);
  [[nodiscard]] std::vector<Timed>& all_placements(std::size_t task, const SharedLayout& layout);
  [[nodiscard]] std::vector<const Timed*> placements_of(std::size_t task, const SharedLayout& layout,
                                                        const Filter& filter);
  [[nodiscard]] static const Timed& leanest_of(const std::vector<const Timed*>& placements);
  [[nodiscard]] Placements placements_of_all(const SharedLayout& layout, const Filter& filter);
  [[nodiscard]] Score choose(const Placements& placements, const Candidate& candidate);
  [[nodiscard]] Score improve(const Placements& placements, const Candidate& start);

  const PlanRequest& request_;
  Evaluator& evaluator_;
  OptionTable& options_;
  TaskNumbers tasks_;
  std::optional<std::vector<SharedLayout>> promising_;
  std::map<std::size_t, std::vector<Shape>> shapes_;  // by task, on the set's devices
  std::map<std::pair<std::size_t, SharedLayout>, std::vector<Timed>> known_;
};

}  // namespace sextant::inline planner
