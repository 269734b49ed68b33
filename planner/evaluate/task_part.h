// One task of the candidate that is evaluated: its placement, what the cost model says of its replicas and
// reductions, and their sum. Follows moves and takes them back.
//
// Placements that were loaded before are kept with all of that: a search meets the same ones in other company,
// and loading one again is a look-up by the fingerprint of its devices.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "planner/evaluate/candidate.h"
#include "planner/evaluate/fingerprints.h"
#include "planner/evaluate/memory_use.h"
#include "planner/evaluate/task_model.h"

namespace sextant {

// What devices are to a search: alike where they have the same seat.
struct Seating {
  std::vector<std::uint16_t> seat_of;    // by device: its node, or itself where links tell devices apart
  std::vector<double> straggler_factor;  // by number of devices, of a task's time
  bool parts_are_alike = false;          // parts cost the same up to names of nodes (costmodel/symmetry.h)
  bool zones_are_alike = false;          // and of zones and regions
  std::size_t used_words = 0;            // of a bit a device
  SeatPrints prints{0};
};

// What an iteration needs of a task.
struct TaskValue {
  double time_s = 0;
  double fastest_gather_s = 0;  // of replicas; for the weight synchronization
  double slowest_gather_s = 0;
  double copied_s = 0;
  double fetched_s = 0;
  double most_resident_bytes = 0;  // of any device
  double most_working_bytes = 0;
};

class TaskPart {
 public:
  TaskPart(TaskModel model, const Problem<double>& frame, const Seating& seating);
  TaskPart(const TaskPart&) = delete;
  TaskPart& operator=(const TaskPart&) = delete;

  void load(const Placement& placement);

  // A move: changes, refresh(), then keep() or undo().
  void replace_device(int position, std::uint16_t device);
  void swap_positions(int first, int second);
  void replace(const Placement& placement);
  void refresh();
  void keep();
  void undo();

  [[nodiscard]] const Placement& placement() const { return now_->placement; }
  [[nodiscard]] const TaskValue& value() const { return now_->value; }
  [[nodiscard]] std::span<const std::uint64_t> used() const { return now_->used; }
  [[nodiscard]] std::span<const ReplicaValue* const> replicas() const { return now_->replicas; }
  [[nodiscard]] const TaskModel& model() const { return model_; }
  [[nodiscard]] ShapeTable& shapes() { return shapes_; }
  [[nodiscard]] const ShapeTable& shapes() const { return shapes_; }
  [[nodiscard]] const Shape& shape() const { return shapes_.at(now_->placement.shape); }
  [[nodiscard]] TaskPlan plan() const { return model_.plan(shape(), now_->placement); }

  [[nodiscard]] bool is_touched() const { return is_touched_; }
  [[nodiscard]] bool is_replaced() const { return is_replaced_; }
  [[nodiscard]] bool uses_other_devices() const { return uses_other_devices_; }
  // Needs by device, and of a move that did not replace the task the devices on which they changed.
  [[nodiscard]] TaskBytes bytes() const { return {now_->resident_bytes.data(), now_->working_bytes.data()}; }
  [[nodiscard]] std::span<const std::uint16_t> changed_devices() const { return changed_devices_; }

  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  struct State {
    Placement placement;
    std::vector<std::uint16_t> seats;           // by position
    std::vector<std::uint64_t> used;            // a bit a device
    std::vector<const ReplicaValue*> replicas;  // one where the task is not separable
    std::vector<double> reduction_s;            // by stage; likewise
    std::vector<double> resident_bytes;         // by device
    std::vector<double> working_bytes;
    TaskValue value;
  };
  struct OldDevice {
    int position;
    std::uint16_t device;
  };
  struct OldBytes {
    std::uint16_t device;
    double resident, working;
  };

  [[nodiscard]] const State* known(const Fingerprint& print) const;
  State& fresh(const Fingerprint& print);
  void forget_known();
  void fill(const Placement& placement, State& state);
  void take_back_moves();
  void fill_bytes(State& state) const;
  void refresh_bytes();
  void set_bytes(std::uint16_t device, double resident, double working);
  void set_device(int position, std::uint16_t device);
  void touch();
  void mark(int position);
  void look_up_all(State& state);
  void look_up_replica(int replica);
  void look_up_stage(int stage, State& state);
  void refresh_stages();
  [[nodiscard]] const ReplicaValue* value_of(int replica, const Fingerprint& print, const State& state);
  [[nodiscard]] const ReplicaValue* ask(const Shape& shape, std::span<const std::uint16_t> devices,
                                        int sequences);
  [[nodiscard]] std::span<const std::uint16_t> of_replica(const std::vector<std::uint16_t>& all, int replica,
                                                          const Shape& shape) const;
  [[nodiscard]] std::uint64_t head_of(int number, int shape) const;
  [[nodiscard]] std::uint64_t head_of_stage(int stage, int shape) const;
  [[nodiscard]] Fingerprint alike_print(std::uint64_t head, std::span<const std::uint16_t> devices);
  [[nodiscard]] bool has_reductions(const Shape& shape) const;
  void sum_up(State& state) const;
  [[nodiscard]] double exposed_reductions_s(const State& state, double compute_s) const;

  TaskModel model_;
  const Problem<double>* frame_;
  const Seating* seating_;
  bool is_separable_;
  ShapeTable shapes_;
  // The current one: one of the known, which stay as they are, or `own_` once a move changed it.
  const State* now_ = nullptr;
  const State* before_ = nullptr;  // of a task that a move replaced
  State own_, spare_;
  // Of own_ before a move.
  std::vector<double> old_reduction_s_;
  TaskValue old_value_;
  std::vector<State> store_;  // never more than it was reserved for, so that they stay where they are
  std::size_t most_known_;
  KnownParts<std::uint32_t> known_placements_;
  std::deque<ReplicaValue> values_;
  KnownParts<const ReplicaValue*> known_values_;  // by seats
  KnownParts<const ReplicaValue*> alike_;         // by places as the formulas see them
  KnownParts<double> known_reductions_, alike_reductions_;
  bool is_touched_ = false, is_replaced_ = false, uses_other_devices_ = false;
  std::vector<int> changed_replicas_;
  std::vector<const ReplicaValue*> old_replicas_;  // of changed_replicas_
  std::vector<OldDevice> old_devices_;
  std::vector<OldBytes> old_bytes_;
  std::vector<std::uint16_t> changed_devices_;
  std::vector<std::uint16_t> stage_seats_, stage_devices_;
  // Of alike_print.
  std::vector<std::uint64_t> words_;
  std::vector<int> nodes_, zones_, regions_;
  std::uint64_t asked_ = 0;
};

}  // namespace sextant
