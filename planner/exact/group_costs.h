// The minimum time of a group of tasks on given devices, with the memory constraint: the components of the
// bounds of branch and bound.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "planner/exact/proof_progress.h"
#include "planner/exact/sync_cost.h"
#include "planner/exact/unit_space.h"

namespace sextant::inline planner {

inline constexpr std::size_t kTaskKinds = 3;

// Lower bounds over all choices of options with which all tasks of the group fit, separately for each number.
// Infinite if none fits.
struct GroupCost {
  std::array<double, kTaskKinds> kind_s{};  // sum over tasks of the kind
  double sum_s = 0;   // over all tasks, with sync_s if the group has both sides of the weight sync
  double sync_s = 0;  // options' part of the weight sync: `together` for both sides, `apart` for one

  [[nodiscard]] bool is_possible() const { return sum_s < std::numeric_limits<double>::infinity(); }
};

// The minimum of each number.
[[nodiscard]] GroupCost min_of(const GroupCost& a, const GroupCost& b);

// Tasks that share devices, with the costs of their options; min_packed_s returns the minimum sum over all
// choices that fit, or a lower bound of it if there are too many. Infinite if none fits.
struct PackedTask {
  const std::vector<ExactOption>* options;
  std::vector<double> cost_s;  // by option
};
[[nodiscard]] double min_packed_s(const std::vector<PackedTask>& tasks, const std::vector<double>& rooms);

// Results are cached. Once `progress` is interrupted, further results are zero, which is still a valid bound.
class GroupCosts {
 public:
  // All must outlive the object.
  GroupCosts(UnitSpace& space, const SyncCost& sync, ProofProgress& progress);

  [[nodiscard]] const GroupCost& of_block(TaskSet tasks, int block);
  // Minimum over the blocks of a share; and over all shares within it.
  [[nodiscard]] const GroupCost& of_share(TaskSet tasks, int share);
  [[nodiscard]] const GroupCost& within(TaskSet tasks, int share);

  [[nodiscard]] TaskSet of_kind(std::size_t kind) const { return of_kind_[kind]; }

 private:
  // Costs by task set and share or block.
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

}  // namespace sextant::inline planner
