// Searches side by side: how each ended, what is made of all of them, and how those of other processes join.
//
// Islands are numbered over all ranks, and what one looks at follows from the request's seed, its number and
// how many there are. What is merged is in the order of the numbers. So with evaluations alone the answer
// depends on the seed and on how many islands there are, not on which rank or thread ran them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "sextant/planner.h"

namespace sextant {

// The processes that search for one request, each with its own copy of it, alike but for threads.
class IslandRanks {
 public:
  IslandRanks() = default;
  virtual ~IslandRanks() = default;
  IslandRanks(const IslandRanks&) = delete;
  IslandRanks& operator=(const IslandRanks&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // What every rank said, by rank. All ranks call it, the same number of times; waits for the last.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& mine) = 0;

  // To the next few ranks in a ring, all where there are as few; returns at once. What nobody has asked for
  // before the next gather is lost.
  virtual void tell_next(const std::string& message) = 0;
  // What this rank was told since the last time; returns at once.
  [[nodiscard]] virtual std::vector<std::string> told() = 0;
};

struct IslandEnd {
  int number = 0;
  std::uint64_t evaluations = 0, feasible = 0;
  std::optional<Score> score;  // of the best, or of what lacks least; none: nothing was looked at
  std::optional<Plan> plan;    // where it fits
  std::vector<Improvement> improvements;
  std::string message;  // what is short, where nothing fits

  friend bool operator==(const IslandEnd&, const IslandEnd&) = default;
  static IslandEnd parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Those of all ranks, by number; on every rank the same.
[[nodiscard]] std::vector<IslandEnd> gathered(IslandRanks& ranks, const std::vector<IslandEnd>& mine);

// The best of their plans, of equals that of the lowest number, with its prediction. Their curves as one: it
// only falls, and an evaluation of one counts as one of each.
[[nodiscard]] PlanResult merged(const PlanRequest& request, const std::vector<IslandEnd>& ends);

}  // namespace sextant
