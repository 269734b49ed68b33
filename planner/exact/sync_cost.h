// The cost of weight synchronization, split into parts that depend on options of training and generation and
// parts that depend on their devices (costmodel/terms/weight_sync.h), so that bounds can minimise each part. If
// both have the same devices the parts sum to it; otherwise their sum is a lower bound.
#pragma once

#include "planner/exact/unit_space.h"

namespace sextant::inline planner {

// The values of training and generation options on separate devices that affect the transfer between them: of
// one option each, or the minimum of several.
struct SyncSides {
  double fastest_gather_s = 0, slowest_gather_s = 0, largest_part = 0;
  double trained_copied_s = 0, generated_copied_s = 0;
};

class SyncCost {
 public:
  // The space must outlive the object.
  explicit SyncCost(const UnitSpace& space);

  [[nodiscard]] int generation() const { return generation_; }  // position of the actor's; -1: no sync
  [[nodiscard]] int training() const { return training_; }
  // True if the parts below are known, as for separable tasks. Otherwise they are zero and the cost is known
  // for whole plans only.
  [[nodiscard]] bool decomposes() const { return decomposes_; }

  // Fixed costs of every plan: rule-based rewards and the controller; and as a part of the actor's weight sync, the
  // notification of tensors.
  [[nodiscard]] double overhead_s() const { return overhead_s_; }
  [[nodiscard]] double handover_s() const { return handover_s_; }
  // A lower bound of what both add to any iteration: trainings may hide a part of the second
  // (costmodel/weight_transfers.h).
  [[nodiscard]] double min_fixed_s() const {
    return overhead_s_ + (may_be_hidden_ ? 1 - eta_ : 1) * handover_s_;
  }
  // True if the workflow trains several models, one of which may hide the transfer of another's weights.
  [[nodiscard]] bool may_be_hidden() const { return may_be_hidden_; }
  // An option's part if generation and training share their devices, and if they are on separate ones. Zero for
  // other tasks.
  [[nodiscard]] double together_s(int task, const TaskValue& value) const;
  [[nodiscard]] double apart_s(int task, const TaskValue& value) const;
  // Separate devices: lower bound of the transfer between these devices, for any layout of both sides.
  [[nodiscard]] double transfer_s(const std::vector<std::uint16_t>& from,
                                  const std::vector<std::uint16_t>& to) const;
  // The same for such sides, with the paths for their largest part: everything that apart_s lacks.
  [[nodiscard]] double transfer_s(const SyncSides& sides, const terms::WeightWays<double>& ways) const;
  // Minimum over devices of any shares in these classes, by number.
  [[nodiscard]] double min_between_s(std::size_t from_class, std::size_t to_class) const;
  // Minimum over any devices of these shares.
  [[nodiscard]] double min_transfer_s(int from_share, int to_share) const;

 private:
  void find_min_transfers();
  [[nodiscard]] int devices_of_share(int share) const;

  const UnitSpace& space_;
  int generation_ = -1, training_ = -1;
  bool decomposes_ = false;
  double overhead_s_ = 0, handover_s_ = 0, woken_s_ = 0;
  bool may_be_hidden_ = false;
  double eta_ = 1;  // the coefficient of Phi
  double sent_bytes_ = 0;
  int max_per_node_ = 1;                    // devices
  std::vector<std::vector<double>> min_s_;  // one copy over one link, by class, then class
};

// Lower bounds of the weight sync for options of generation, over all options of training, with separate devices
// of both sides.
class SyncBetween {
 public:
  // training_block: the block of these training devices. The others must outlive the object.
  SyncBetween(UnitSpace& space, const SyncCost& sync, int training_block,
              const std::vector<std::uint16_t>& training, const std::vector<std::uint16_t>& generation);

  [[nodiscard]] double min_s(const TaskValue& generated) const;

 private:
  UnitSpace& space_;
  const SyncCost& sync_;
  std::vector<std::uint64_t> training_, generation_;  // devices, one bit each
  SyncSides minimum_;                                 // of training alone
  double min_apart_s_ = 0;
};

}  // namespace sextant::inline planner
