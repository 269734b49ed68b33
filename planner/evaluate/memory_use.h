// C3 of HetRL (section 3.1) over all devices: the states of every task that a device holds and the largest of
// their working sets, kept up to date move by move.
#pragma once

#include <cstdint>
#include <vector>

namespace sextant {

class MemoryUse {
 public:
  // room_bytes: by device.
  MemoryUse(std::size_t tasks, std::vector<double> room_bytes);

  // All tasks anew: clear, fill, then excess_bytes of a candidate that no move is tried on.
  void clear();
  void fill(std::size_t task, std::uint16_t device, double resident_bytes, double working_bytes) {
    const std::size_t at = task * devices_ + device;
    resident_[at] = resident_bytes;
    working_[at] = working_bytes;
  }
  [[nodiscard]] double excess_bytes_of_all();

  // One device of one task, as part of a move; what it does not hold is zero.
  void set(std::size_t task, std::uint16_t device, double resident_bytes, double working_bytes);
  // By which the fullest device is too small; zero where all have room.
  [[nodiscard]] double excess_bytes();
  void keep();
  void undo();

 private:
  struct Change {
    std::size_t at;
    double resident_bytes, working_bytes;
  };
  struct Excess {
    std::uint16_t device;
    double bytes;
  };
  [[nodiscard]] double excess_of(std::size_t device) const;

  std::size_t tasks_, devices_;
  std::vector<double> room_;
  std::vector<double> resident_, working_;  // by task, then device
  std::vector<double> excess_;              // by device; negative where there is room
  std::vector<double> sum_, most_;          // of excess_bytes_of_all
  std::vector<Change> changes_;
  std::vector<Excess> old_excesses_;
  std::vector<std::uint16_t> changed_devices_;
  double largest_ = 0, old_largest_ = 0;
};

}  // namespace sextant
