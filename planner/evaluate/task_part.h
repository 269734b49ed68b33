// One task of the candidate that is evaluated: its placement, what the cost model says of its replicas and
// reductions, and their sum. Follows moves and takes them back.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "planner/evaluate/candidate.h"
#include "planner/evaluate/fingerprints.h"
#include "planner/evaluate/task_model.h"

namespace sextant {

// What devices are to a search: alike where they have the same seat.
struct Seating {
  std::vector<std::uint16_t> seat_of;    // by device: its node, or itself where links tell devices apart
  std::vector<double> straggler_factor;  // by number of devices, of a task's time
  bool parts_are_alike = false;          // parts cost the same up to names of nodes (costmodel/symmetry.h)
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

  void load(const Placement& placement);

  // A move: changes, refresh(), then keep() or undo().
  void replace_device(int position, std::uint16_t device);
  void swap_positions(int first, int second);
  void replace(const Placement& placement);
  void refresh();
  void keep();
  void undo();

  [[nodiscard]] const Placement& placement() const { return now_.placement; }
  [[nodiscard]] const TaskValue& value() const { return now_.value; }
  [[nodiscard]] std::span<const std::uint64_t> used() const { return now_.used; }
  [[nodiscard]] std::span<const ReplicaValue* const> replicas() const { return now_.replicas; }
  [[nodiscard]] const TaskModel& model() const { return model_; }
  [[nodiscard]] ShapeTable& shapes() { return shapes_; }
  [[nodiscard]] const ShapeTable& shapes() const { return shapes_; }
  [[nodiscard]] const Shape& shape() const { return shapes_.at(now_.placement.shape); }
  [[nodiscard]] TaskPlan plan() const { return model_.plan(shape(), now_.placement); }

  [[nodiscard]] bool is_touched() const { return is_touched_; }
  [[nodiscard]] bool is_replaced() const { return is_replaced_; }
  [[nodiscard]] bool uses_other_devices() const { return uses_other_devices_; }
  // Of the move: devices that lost their tasklet or have another one, and replicas that were looked up again.
  struct OldDevice {
    int position;
    std::uint16_t device;
  };
  [[nodiscard]] std::span<const OldDevice> old_devices() const { return old_devices_; }
  [[nodiscard]] std::span<const int> changed_replicas() const { return changed_replicas_; }

  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  struct State {
    Placement placement;
    std::vector<std::uint16_t> seats;           // by position
    std::vector<std::uint64_t> used;            // a bit a device
    std::vector<const ReplicaValue*> replicas;  // one where the task is not separable
    std::vector<double> reduction_s;            // by stage; likewise
    TaskValue value;
  };

  void set_device(int position, std::uint16_t device);
  void touch();
  void mark(int position);
  void look_up_all();
  void look_up_replica(int replica);
  void look_up_stage(int stage);
  void refresh_stages();
  [[nodiscard]] const ReplicaValue* value_of(int replica, const Fingerprint& print);
  [[nodiscard]] const ReplicaValue* ask(std::span<const std::uint16_t> devices, int sequences);
  [[nodiscard]] std::span<const std::uint16_t> of_replica(const std::vector<std::uint16_t>& all,
                                                          int replica) const;
  [[nodiscard]] std::uint64_t head_of(int number) const;
  [[nodiscard]] std::uint64_t head_of_stage(int stage) const;
  [[nodiscard]] Fingerprint alike_print(std::uint64_t head, std::span<const std::uint16_t> devices);
  [[nodiscard]] bool has_reductions() const;
  void sum_up();
  [[nodiscard]] double exposed_reductions_s(double compute_s) const;

  TaskModel model_;
  const Problem<double>* frame_;
  const Seating* seating_;
  bool is_separable_;
  ShapeTable shapes_;
  State now_, before_;
  std::deque<ReplicaValue> values_;
  KnownParts<const ReplicaValue*> known_;  // by seats
  KnownParts<const ReplicaValue*> alike_;  // by places as the formulas see them
  KnownParts<double> known_reductions_, alike_reductions_;
  bool is_touched_ = false, is_replaced_ = false, uses_other_devices_ = false;
  std::vector<int> changed_replicas_;
  std::vector<const ReplicaValue*> old_replicas_;  // of changed_replicas_
  std::vector<OldDevice> old_devices_;
  std::vector<std::uint16_t> stage_seats_, stage_devices_;
  // Of alike_print.
  std::vector<std::uint64_t> words_;
  std::vector<int> nodes_, zones_, regions_;
  std::uint64_t asked_ = 0;
};

}  // namespace sextant
