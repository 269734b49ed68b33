// A plan of one option a task, costed from what its options say of themselves: for searches that put together
// what is known already (mcmc/chain.h), at some hundred nanoseconds a change and without allocation.
//
// Its time is the evaluator's to rounding (1e-12, tested). Its memory is that of the fullest device of every
// type, added up over tasks as if these were one device: at least what any device needs, so that what fits here
// fits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "planner/space/options.h"

namespace sextant {

class ComposedPlan {
 public:
  using DeviceSet = std::span<const std::uint64_t>;  // device_words.h
  struct Part {
    const Option* option = nullptr;
    DeviceSet devices;        // parts whose devices are at the same place have the same
    std::uint64_t types = 0;  // of these devices, a bit each (type_bit)
  };

  // evaluator: is_composable. free_memory_bytes: by device. All of them, options and sets of devices must outlive it.
  ComposedPlan(Evaluator& evaluator, const OptionTable& table, const Workflow& workflow,
               const Objective& objective, const std::vector<double>& free_memory_bytes);

  [[nodiscard]] Part part(const Option& option, DeviceSet devices) const;

  // By task; the current plan from now on.
  void begin(std::vector<Part> parts);

  // A task in another way: tried until keep() or undo().
  Score replace(std::size_t task, const Part& part);
  void keep() {}
  void undo();

  // Of the current plan.
  [[nodiscard]] Score score() const;

 private:
  struct TypeRoom {
    std::vector<std::uint64_t> devices;
    double bytes = 0;  // of each, or of the smallest
  };
  struct Totals {
    Phases::Times phases_s{};
    WeightPath path;
    double sync_s = 0;       // of the actor's weights
    double other_use_s = 0;  // the longest of the others
    double excess_bytes = 0;
  };

  // Of the 65th type on they have one in common with others, which are then looked at without need.
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
  int generation_ = -1, training_ = -1;  // of the actor; -1 where no weights are synchronized
  std::vector<TypeRoom> types_;
  std::size_t words_ = 0;
  std::vector<Part> parts_;
  std::vector<double> times_s_;
  std::vector<std::uint8_t> overlaps_;
  std::vector<double> data_s_, old_data_s_;  // by edge of the evaluator
  Totals now_, before_;
  // Of the change that is tried.
  std::size_t changed_ = 0;
  Part old_part_;
  std::vector<std::uint8_t> old_overlaps_;   // of the task that changed
  std::vector<double> excess_, old_excess_;  // by type
};

}  // namespace sextant
