// C3 of HetRL (section 3.1) over all devices: the states of every task that a device holds and the largest of
// their working sets, kept up to date move by move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

// What one task needs, by device; zero where it has no tasklet.
struct TaskBytes {
  const double* resident = nullptr;
  const double* working = nullptr;
  double max_resident = 0;  // of any device
  double max_working = 0;
};

class MemoryUse {
 public:
  using Tasks = std::span<const TaskBytes>;

  // free_memory_bytes: by device.
  explicit MemoryUse(std::vector<double> free_memory_bytes);

  // By which the fullest device is too small; zero where all have room.
  // Of a candidate that is new:
  [[nodiscard]] double of_candidate(Tasks tasks);
  // after a move that changed the needs on some devices, or on any:
  [[nodiscard]] double of_move(Tasks tasks, std::span<const std::uint16_t> devices);
  [[nodiscard]] double of_move(Tasks tasks);
  // or after one that changed none.
  [[nodiscard]] double of_same() const { return largest_; }

  // Nobody asked, as all have room: of a candidate, of a move.
  void skip_candidate() { is_known_ = false; }
  void skip_move() { last_ = Last::skipped; }

  // The needs of single devices are known, so that of_move can go on from them.
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
  std::vector<double> excess_, tried_;  // by device; negative where there is room
  std::vector<double> maximum_;         // of find_all
  std::vector<Excess> old_;             // before the move
  double largest_ = 0, old_largest_ = 0, tried_largest_ = 0;
  bool is_known_ = false;
  Last last_ = Last::none;
};

}  // namespace sextant
