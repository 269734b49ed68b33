// A plan with one option per task, costed from the options' values: for searches that combine known options
// (search/chain.h), at a few hundred nanoseconds per change and without allocation.
//
// Its time equals the evaluator's to rounding (1e-12, tested). Its memory is the sum over tasks of the maximum
// per device type, as if all maxima were on one device. This is an upper bound of the need of any device, so a
// plan that fits here fits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "planner/space/options.h"

namespace sextant::inline planner {

class ComposedPlan {
 public:
  using DeviceSet = std::span<const std::uint64_t>;  // device_words.h
  struct Part {
    const Option* option = nullptr;
    DeviceSet devices;        // parts with the same pointer have the same devices
    std::uint64_t types = 0;  // of the devices, one bit each (type_bit)
  };

  // evaluator must be is_composable. free_memory_bytes: by device. All arguments and parts must outlive this.
  ComposedPlan(Evaluator& evaluator, const OptionTable& table, const Workflow& workflow,
               const Objective& objective, const std::vector<double>& free_memory_bytes);

  [[nodiscard]] Part part(const Option& option, DeviceSet devices) const;

  // Makes the plan with these parts, by task, the current one.
  void begin(std::vector<Part> parts);

  // Replaces one task's part; the change is pending until keep() or undo().
  Score replace(std::size_t task, const Part& part);
  void keep() {}
  void undo();

  // Score of the current plan.
  [[nodiscard]] Score score() const;

 private:
  struct TypeRoom {
    std::vector<std::uint64_t> devices;
    double bytes = 0;  // minimum over the devices
  };
  struct Totals {
    Phases::Times phases_s{};
    WeightPath path;
    std::vector<WeightTransfer<double>> transfers;  // Evaluator::transfers
    double excess_bytes = 0;
  };

  // Types 64 and above share bits with others, which are then recomputed unnecessarily.
  static std::uint64_t type_bit(std::size_t type) { return std::uint64_t{1} << type % kWordBits; }
  void set_part(std::size_t task, const Part& part);
  void find_overlaps(std::size_t task);
  void find_phase(TaskKind kind);
  void find_sync(bool has_other_devices);
  void find_other_uses();
  void find_data(std::size_t edge);
  [[nodiscard]] std::uint64_t used(std::size_t word) const;
  void find_excess(std::uint64_t types);
  [[nodiscard]] double excess_bytes(std::size_t type) const;
  [[nodiscard]] double excess_by_device(std::size_t type) const;

  Evaluator& evaluator_;
  const Workflow& workflow_;
  Objective objective_;
  bool is_time_alone_;
  int generation_ = -1, training_ = -1;  // of the actor; -1 without weight sync
  std::vector<TypeRoom> types_;
  std::size_t words_ = 0;
  std::vector<Part> parts_;
  std::vector<double> times_s_;
  std::vector<std::uint8_t> overlaps_;
  std::vector<double> data_s_, old_data_s_;  // by edge of the evaluator
  Totals now_, before_;
  // State of the pending change.
  std::size_t changed_ = 0;
  Part old_part_;
  std::vector<std::uint8_t> old_overlaps_;   // for the changed task
  std::vector<double> excess_, old_excess_;  // by type
};

}  // namespace sextant::inline planner
