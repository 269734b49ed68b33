// C3 of HetRL (section 3.1) over all devices: the states of every task on a device, with the KV cache of an
// engine that does not sleep, plus the largest of their working sets, updated move by move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::inline planner {

// The memory that a task needs, in bytes by device; zero on devices without a tasklet of it.
struct TaskBytes {
  const double* resident = nullptr;
  const double* working = nullptr;
  double max_resident = 0;  // maximum over devices
  double max_working = 0;
};

class MemoryUse {
 public:
  using Tasks = std::span<const TaskBytes>;

  // free_memory_bytes: by device.
  explicit MemoryUse(std::vector<double> free_memory_bytes);

  // The functions below return the missing memory of the fullest device; zero if all tasks fit everywhere.
  // For a new candidate:
  [[nodiscard]] double of_candidate(Tasks tasks);
  // after a move that changed the needs on these devices, or on any device:
  [[nodiscard]] double of_move(Tasks tasks, std::span<const std::uint16_t> devices);
  [[nodiscard]] double of_move(Tasks tasks);
  // after a move that changed no needs:
  [[nodiscard]] double of_same() const { return largest_; }

  // Skip the computation if all tasks certainly fit, for a candidate or for a move.
  void skip_candidate() { is_known_ = false; }
  void skip_move() { last_ = Last::skipped; }

  // True if the needs of single devices are known, so that of_move can update them.
  [[nodiscard]] bool is_known() const { return is_known_; }

  void keep();
  void undo();

 private:
  enum class Last { none, skipped, some, all };
  struct Excess {
    std::uint16_t device;
    double bytes;
  };
  [[nodiscard]] double excess_of(Tasks tasks, std::size_t device) const;
  double find_all(Tasks tasks, std::vector<double>& excess);

  std::vector<double> room_;
  std::vector<double> excess_, tried_;  // by device; negative if memory is free
  std::vector<double> maximum_;         // buffer of find_all
  std::vector<Excess> old_;             // before the current move
  double largest_ = 0, old_largest_ = 0, tried_largest_ = 0;
  bool is_known_ = false;
  Last last_ = Last::none;
};

}  // namespace sextant::inline planner
