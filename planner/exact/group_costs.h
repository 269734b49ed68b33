// The least that a group of tasks takes on given devices, memory included: what the bounds of branch and bound
// are made of.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "planner/exact/proof_progress.h"
#include "planner/exact/sync_cost.h"
#include "planner/exact/unit_space.h"

namespace sextant {

inline constexpr std::size_t kTaskKinds = 3;

// No choice of options with which all tasks of the group fit takes less, in any of the numbers. Infinite where
// none fits.
struct GroupCost {
  std::array<double, kTaskKinds> kind_s{};  // sum over tasks of the kind
  double sum_s = 0;   // over all tasks, with sync_s where the group has both sides of the weight sync
  double sync_s = 0;  // options' part of the weight sync: `together` of both sides, `apart` of one

  [[nodiscard]] bool is_possible() const { return sum_s < std::numeric_limits<double>::infinity(); }
};

// In each number.
[[nodiscard]] GroupCost min_of(const GroupCost& a, const GroupCost& b);

// Options of tasks that share devices, with the least sum of their costs of all choices that fit, or a bound of
// it where there are too many to look at. Infinite where none fits.
struct PackedTask {
  const std::vector<ExactOption>* options;
  std::vector<double> cost_s;  // by option
};
[[nodiscard]] double min_packed_s(const std::vector<PackedTask>& tasks, const std::vector<double>& rooms);

// What was asked before is known. Once `progress` is interrupted all else is zero, which is no less a bound.
class GroupCosts {
 public:
  // All must outlive it.
  GroupCosts(UnitSpace& space, const SyncCost& sync, ProofProgress& progress);

  [[nodiscard]] const GroupCost& of_block(TaskSet tasks, int block);
  // On the best block of a share; and of any share within it.
  [[nodiscard]] const GroupCost& of_share(TaskSet tasks, int share);
  [[nodiscard]] const GroupCost& within(TaskSet tasks, int share);

  [[nodiscard]] TaskSet of_kind(std::size_t kind) const { return of_kind_[kind]; }

 private:
  // By share or block.
  using Known = std::unordered_map<std::uint64_t, GroupCost>;
  [[nodiscard]] static std::uint64_t key(TaskSet tasks, int number) {
    return static_cast<std::uint64_t>(tasks) << 32 | static_cast<std::uint32_t>(number);
  }
  [[nodiscard]] GroupCost look(TaskSet tasks, int block);
  [[nodiscard]] const GroupCost& known_as(Known& known, std::uint64_t key, const GroupCost& cost) const;

  UnitSpace& space_;
  const SyncCost& sync_;
  ProofProgress& progress_;
  std::array<TaskSet, kTaskKinds> of_kind_{};
  Known of_block_, of_share_, within_;
};

}  // namespace sextant
