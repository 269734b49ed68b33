// One task of the current candidate: its placement, the costs of its replicas and reductions, and their sum.
// Moves update it and can be undone.
//
// Loaded placements are cached with all their costs, because a search meets the same ones in combination with
// different other tasks. Loading one again is a look-up by the fingerprint of its devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/evaluate/memory_use.h"
#include "planner/evaluate/task_model.h"
#include "planner/request/candidate.h"
#include "planner/request/fingerprints.h"

namespace sextant::inline planner {

// The equivalence classes of devices for a search: devices of one class are interchangeable.
struct DeviceClasses {
  std::vector<std::uint16_t> class_of;   // by device: its node, or itself if links distinguish devices
  std::vector<double> straggler_factor;  // by number of devices, for a task's time
  bool parts_are_alike = false;          // parts cost the same up to node names (costmodel/problem/symmetry.h)
  bool zones_are_alike = false;          // and up to zone and region names
  std::size_t used_words = 0;            // words of a set with one bit per device
  DeviceClassHashes prints{0};
};

// The values of a task that an iteration depends on.
struct TaskValue {
  double time_s = 0;
  double fastest_gather_s = 0;  // of replicas; for the weight synchronization
  double slowest_gather_s = 0;
  double copied_s = 0;
  double fetched_s = 0;
  double max_resident_bytes = 0;  // maximum over devices
  double max_working_bytes = 0;
  double max_host_bytes = 0;  // maximum over devices, if nodes state their host memory
  double max_sleeping_bytes = 0;
  double largest_part = 0;  // of the weights, on any device: for tasks that use weights of others

  friend bool operator==(const TaskValue&, const TaskValue&) = default;
};

class TaskPart {
 public:
  TaskPart(TaskModel model, const Problem<double>& frame, const DeviceClasses& seating);
  TaskPart(const TaskPart&) = delete;
  TaskPart& operator=(const TaskPart&) = delete;

  void load(const Placement& placement);
  // Computes value() and replicas() only, valid until the next call. Sets no current state and caches nothing.
  void cost_without_caching(const Placement& placement);

  // A move consists of changes, refresh(), then keep() or undo().
  void replace_device(int position, std::uint16_t device);
  void swap_positions(int first, int second);
  void replace(const Placement& placement);
  bool refresh();  // returns whether value() may have changed
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
  // Needs by device; for a move that did not replace the task, changed_devices() are those whose needs changed.
  [[nodiscard]] TaskBytes bytes() const {
    return {now_->resident_bytes.data(), now_->working_bytes.data(), now_->value.max_resident_bytes,
            now_->value.max_working_bytes};
  }
  [[nodiscard]] std::span<const std::uint16_t> changed_devices() const { return changed_devices_; }

  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  struct State {
    Placement placement;
    std::vector<std::uint64_t> used;            // one bit per device
    std::vector<const ReplicaValue*> replicas;  // one if the task is not separable
    std::vector<Fingerprint> replica_sums;      // fingerprints of their device classes
    std::vector<double> reduction_s;            // by stage; one if the task is not separable
    std::vector<Fingerprint> stage_sums;        // empty without reductions
    std::vector<double> resident_bytes;         // by device
    std::vector<double> working_bytes;
    TaskValue value;
  };
  // The location of a position: its replica and stage, and the position within these.
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
  // The current state: a cached one, which is never changed, or `own_` once a move changed it; otherwise the
  // result of the last cost_without_caching().
  const State* now_ = nullptr;
  const State* before_ = nullptr;  // before a move that replaced the task
  State own_, spare_, glanced_at_;
  // Numbers of positions of a replica and of a stage, for the shape of own_.
  int replica_size_ = 1, stage_size_ = 1;
  bool has_reductions_ = false;
  std::vector<State> store_;                  // never exceeds its reserved size, so that pointers stay valid
  std::size_t known_states_ = 0, max_known_;  // the first entries of the store are cached states
  KnownParts<std::uint32_t> known_placements_;
  // Blocks of a fixed size, so that pointers stay valid.
  std::vector<std::vector<ReplicaValue>> values_;
  KnownParts<const ReplicaValue*> known_values_;  // by device classes
  KnownParts<const ReplicaValue*> alike_;         // by locations as the formulas see them
  KnownParts<const ReplicaValue*> alike_bytes_;   // by needs at all positions
  KnownParts<double> known_reductions_, alike_reductions_;
  bool is_touched_ = false, is_replaced_ = false, uses_other_devices_ = false;
  // Values of own_ before a move.
  TaskValue old_value_;
  std::vector<OldReplica> old_replicas_;
  std::vector<OldStage> old_stages_;
  std::vector<OldDevice> old_devices_;
  std::vector<OldBytes> old_bytes_;
  std::vector<std::uint16_t> changed_devices_;
  std::vector<std::uint16_t> seats_, stage_seats_, stage_devices_;
  // Buffers of alike_print.
  std::vector<std::uint64_t> words_;
  std::vector<int> nodes_, zones_, regions_;
  std::uint64_t asked_ = 0;
};

}  // namespace sextant::inline planner
