// One task of the candidate that is evaluated: its placement, what the cost model says of its replicas and
// reductions, and their sum. Follows moves and takes them back.
//
// Placements that were loaded before are kept with all of that: a search meets the same ones in other company,
// and loading one again is a look-up by the fingerprint of its devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/evaluate/memory_use.h"
#include "planner/evaluate/task_model.h"
#include "planner/request/candidate.h"
#include "planner/request/fingerprints.h"

namespace sextant {

// What devices are to a search: alike where they have the same seat.
struct DeviceClasses {
  std::vector<std::uint16_t> class_of;   // by device: its node, or itself where links tell devices apart
  std::vector<double> straggler_factor;  // by number of devices, of a task's time
  bool parts_are_alike = false;  // parts cost the same up to names of nodes (costmodel/problem/symmetry.h)
  bool zones_are_alike = false;  // and of zones and regions
  std::size_t used_words = 0;    // of a bit a device
  DeviceClassHashes prints{0};
};

// What an iteration needs of a task.
struct TaskValue {
  double time_s = 0;
  double fastest_gather_s = 0;  // of replicas; for the weight synchronization
  double slowest_gather_s = 0;
  double copied_s = 0;
  double fetched_s = 0;
  double max_resident_bytes = 0;  // of any device
  double max_working_bytes = 0;
  double max_host_bytes = 0;  // of any device, where nodes say what they have
  double max_sleeping_bytes = 0;
  double largest_part = 0;  // of the weights, on any device: of tasks that use what others train

  friend bool operator==(const TaskValue&, const TaskValue&) = default;
};

class TaskPart {
 public:
  TaskPart(TaskModel model, const Problem<double>& frame, const DeviceClasses& seating);
  TaskPart(const TaskPart&) = delete;
  TaskPart& operator=(const TaskPart&) = delete;

  void load(const Placement& placement);
  // For value() and replicas() alone, which are valid until the next time: no current one, and not kept.
  void cost_without_caching(const Placement& placement);

  // A move: changes, refresh(), then keep() or undo().
  void replace_device(int position, std::uint16_t device);
  void swap_positions(int first, int second);
  void replace(const Placement& placement);
  bool refresh();  // whether value() may be another
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
  [[nodiscard]] TaskBytes bytes() const {
    return {now_->resident_bytes.data(), now_->working_bytes.data(), now_->value.max_resident_bytes,
            now_->value.max_working_bytes};
  }
  [[nodiscard]] std::span<const std::uint16_t> changed_devices() const { return changed_devices_; }

  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  struct State {
    Placement placement;
    std::vector<std::uint64_t> used;            // a bit a device
    std::vector<const ReplicaValue*> replicas;  // one where the task is not separable
    std::vector<Fingerprint> replica_sums;      // of their seats
    std::vector<double> reduction_s;            // by stage; likewise
    std::vector<Fingerprint> stage_sums;        // none without reductions
    std::vector<double> resident_bytes;         // by device
    std::vector<double> working_bytes;
    TaskValue value;
  };
  // Where a position is: of what replica and stage, and at which position in these.
  struct Place {
    int position, replica, in_replica, stage, in_stage;
  };
  struct OldDevice {
    Place place;
    std::uint16_t device;
  };
  struct OldReplica {
    int replica;
    const ReplicaValue* value;
    Fingerprint sum;
  };
  struct OldStage {
    int stage;
    double reduction_s;
    Fingerprint sum;
  };
  struct OldBytes {
    std::uint16_t device;
    double resident, working;
  };

  [[nodiscard]] const State* known(const Fingerprint& print) const;
  State& fresh(const Fingerprint& print);
  void forget_known();
  void fill_costs(const Placement& placement, State& state);
  void take_back_moves();
  void fill_bytes(State& state) const;
  void refresh_bytes();
  void set_bytes(std::uint16_t device, double resident, double working);
  void set_device(const Place& place, std::uint16_t device);
  void touch();
  [[nodiscard]] Place place_of(int position) const;
  Place mark(int position);
  void look_up_all(State& state);
  [[nodiscard]] bool refresh_replicas();
  [[nodiscard]] bool refresh_stages();
  [[nodiscard]] const ReplicaValue* value_of(int replica, const Fingerprint& print, const State& state);
  [[nodiscard]] const ReplicaValue* new_value_of(int replica, const Fingerprint& print, const State& state);
  [[nodiscard]] double reduction_of(int stage, const Fingerprint& print, const State& state);
  [[nodiscard]] double new_reduction_of(int stage, const Fingerprint& print, const State& state);
  void gather(int stage, const Shape& shape, const std::vector<std::uint16_t>& all,
              std::vector<std::uint16_t>& of_stage) const;
  ReplicaValue& stored(ReplicaValue value);
  [[nodiscard]] const ReplicaValue* ask(const Shape& shape, std::span<const std::uint16_t> devices,
                                        int replica);
  [[nodiscard]] std::span<const std::uint16_t> of_replica(const std::vector<std::uint16_t>& all, int replica,
                                                          const Shape& shape) const;
  [[nodiscard]] bool is_separable(int shape) const { return model_.is_separable(shapes_.at(shape)); }
  [[nodiscard]] std::uint64_t head_of(int number, int shape) const;
  [[nodiscard]] std::uint64_t head_of_stage(int stage, int shape) const;
  [[nodiscard]] Fingerprint alike_print(std::uint64_t head, std::span<const std::uint16_t> devices);
  [[nodiscard]] bool has_reductions(const Shape& shape) const;
  void sum_up(State& state) const;
  [[nodiscard]] double exposed_reductions_s(const State& state, double compute_s) const;

  TaskModel model_;
  const Problem<double>* sync_problem_;
  const DeviceClasses* seating_;
  ShapeTable shapes_;
  // The current one: one of the known, which stay as they are, or `own_` once a move changed it; else what was
  // glanced at last.
  const State* now_ = nullptr;
  const State* before_ = nullptr;  // of a task that a move replaced
  State own_, spare_, glanced_at_;
  // Of the shape of own_: positions of a replica and of a stage in it.
  int replica_size_ = 1, stage_size_ = 1;
  bool has_reductions_ = false;
  std::vector<State> store_;  // never more than it was reserved for, so that they stay where they are
  std::size_t known_states_ = 0, max_known_;  // of the store, the first of which are known
  KnownParts<std::uint32_t> known_placements_;
  // In blocks of a fixed size, so that they stay where they are.
  std::vector<std::vector<ReplicaValue>> values_;
  KnownParts<const ReplicaValue*> known_values_;  // by seats
  KnownParts<const ReplicaValue*> alike_;         // by places as the formulas see them
  KnownParts<const ReplicaValue*> alike_bytes_;   // by needs at all positions
  KnownParts<double> known_reductions_, alike_reductions_;
  bool is_touched_ = false, is_replaced_ = false, uses_other_devices_ = false;
  // Of own_ before a move.
  TaskValue old_value_;
  std::vector<OldReplica> old_replicas_;
  std::vector<OldStage> old_stages_;
  std::vector<OldDevice> old_devices_;
  std::vector<OldBytes> old_bytes_;
  std::vector<std::uint16_t> changed_devices_;
  std::vector<std::uint16_t> seats_, stage_seats_, stage_devices_;
  // Of alike_print.
  std::vector<std::uint64_t> words_;
  std::vector<int> nodes_, zones_, regions_;
  std::uint64_t asked_ = 0;
};

}  // namespace sextant
