// Parallel searches: the result of each, the merged result, and the communication with other processes.
//
// Islands are numbered over all ranks. An island's search depends only on the request's seed, its number and
// the number of islands, and results are merged in the order of the numbers. So with an evaluation budget alone
// the answer depends on the seed and on the number of islands, not on which rank or thread ran them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

// The processes that search for one request. Each has its own copy of it; copies may differ in threads only.
class IslandRanks {
 public:
  IslandRanks() = default;
  virtual ~IslandRanks() = default;
  IslandRanks(const IslandRanks&) = delete;
  IslandRanks& operator=(const IslandRanks&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // Returns the messages of all ranks, by rank. Collective: every rank must call it; waits for the last one.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& mine) = 0;

  // Sends to the next few ranks in a ring, or to all if there are no more; returns at once. Messages not
  // received before the next gather() are discarded.
  virtual void tell_next(const std::string& message) = 0;
  // Returns the messages received since the last call; does not wait.
  [[nodiscard]] virtual std::vector<std::string> told() = 0;
};

struct IslandEnd {
  int number = 0;
  std::uint64_t evaluations = 0, feasible = 0;
  std::optional<Score> score;  // of the best plan, or of that with the least excess; absent: none evaluated
  std::optional<Plan> plan;    // if it fits
  std::vector<Improvement> improvements;
  std::string message;  // missing resource if nothing fits

  friend bool operator==(const IslandEnd&, const IslandEnd&) = default;
  static IslandEnd parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// The results of all ranks, by number; equal on every rank.
[[nodiscard]] std::vector<IslandEnd> gathered(IslandRanks& ranks, const std::vector<IslandEnd>& mine);

// The best of their plans (on ties of the lowest number), with its prediction. Their improvement curves are
// merged: the merged curve only falls, and one evaluation of it counts as one evaluation of each island.
[[nodiscard]] PlanResult merged(const PlanRequest& request, const std::vector<IslandEnd>& ends);

}  // namespace sextant::inline planner
