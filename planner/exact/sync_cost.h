// What weight synchronization adds, cut into what options of training and generation decide and what their
// devices do (costmodel/terms/weight_sync.h), so that bounds can have each part at its least. Where both have
// the same devices the parts add up to it; where they have their own, to no more than it.
#pragma once

#include "planner/exact/unit_space.h"

namespace sextant {

// What options of training and of generation on devices of their own ask of the ways between them: of one
// option each, or the least of several.
struct SyncSides {
  double fastest_gather_s = 0, slowest_gather_s = 0, largest_part = 0;
  double trained_copied_s = 0, generated_copied_s = 0;
};

class SyncCost {
 public:
  // The space must outlive it.
  explicit SyncCost(const UnitSpace& space);

  [[nodiscard]] int generation() const { return generation_; }  // position of the actor's; -1: there is no sync
  [[nodiscard]] int training() const { return training_; }
  // Whether the parts below are known, as they are of tasks whose replicas are apart. Where not, they are zero
  // and the whole is known of whole plans alone.
  [[nodiscard]] bool decomposes() const { return decomposes_; }

  // Paid by every plan: handing tensors over, rewards of rules, the controller.
  [[nodiscard]] double fixed_s() const { return fixed_s_; }
  // An option's part where generation and training share their devices, and where they have their own. Zero of
  // other tasks.
  [[nodiscard]] double together_s(int task, const TaskValue& value) const;
  [[nodiscard]] double apart_s(int task, const TaskValue& value) const;
  // Where they have their own: what the ways between their devices take at least, however both are laid out.
  [[nodiscard]] double transfer_s(const std::vector<std::uint16_t>& from,
                                  const std::vector<std::uint16_t>& to) const;
  // The same for such sides, by the ways for their largest part: all that options do not have in apart_s.
  [[nodiscard]] double transfer_s(const SyncSides& sides, const terms::WeightWays<double>& ways) const;
  // The least of it for devices of any shares that lie in these classes, by number.
  [[nodiscard]] double min_between_s(std::size_t from_class, std::size_t to_class) const;
  // The least of it for any devices of these shares.
  [[nodiscard]] double min_transfer_s(int from_share, int to_share) const;

 private:
  void find_min_transfers();
  [[nodiscard]] int devices_of_share(int share) const;

  const UnitSpace& space_;
  int generation_ = -1, training_ = -1;
  bool decomposes_ = false;
  double fixed_s_ = 0;
  double sent_bytes_ = 0;
  int max_per_node_ = 1;                    // devices
  std::vector<std::vector<double>> min_s_;  // of one copy over one link, by class, then class
};

}  // namespace sextant
