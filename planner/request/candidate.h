// A plan in the representation of planners: for every task a shape and the devices of its tasklets, in arrays
// that a move changes in place. Everything else of a TaskPlan follows from these.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "planner/request/fingerprints.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

// Level 4 of HetRL's search (section 3.2): how a task is partitioned. All of its replicas agree except for
// their share of the batch.
struct Shape {
  int tensor_parallel = 1;  // width of a stage
  int micro_batch_sequences = 1;
  int decode_batch_sequences = 0;  // as in TaskPlan
  Recompute recompute = Recompute::none;
  int execution = 0;           // position in the task's executions (sextant/task_choices.h)
  std::vector<int> layers;     // by stage
  std::vector<int> sequences;  // by replica; they sum to the workflow's
  // Replica::length_rank by replica. Empty if the batch is not split by length.
  std::vector<int> length_ranks;

  [[nodiscard]] int data_parallel() const { return static_cast<int>(sequences.size()); }
  [[nodiscard]] int pipeline_parallel() const { return static_cast<int>(layers.size()); }
  [[nodiscard]] int devices() const { return data_parallel() * replica_devices(); }
  [[nodiscard]] int replica_devices() const { return pipeline_parallel() * tensor_parallel; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

// The range of sequences of each replica's rank, shortest first (sextant/plan.h).
[[nodiscard]] std::vector<SequenceRange> length_ranges(const Shape& shape);

// An even split, for layers and batch shares; the earliest parts take one more while a remainder lasts.
[[nodiscard]] std::vector<int> dealt_evenly(int total, int parts);

// One task of a candidate. Level 5: position ((i PP) + j) TP + k holds shard k of stage j of replica i.
struct Placement {
  int shape = 0;                       // position in the task's table of shapes
  std::vector<std::uint16_t> devices;  // by position, without duplicates

  friend bool operator==(const Placement&, const Placement&) = default;
};

struct Candidate {
  std::vector<Placement> tasks;  // in the order of the workflow's

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// The shapes of a task's placements; a search appends new ones. Shapes of one kind differ in the replicas'
// shares only; shapes of one cut have the same execution, degrees and layers. Replicas of one kind with the
// same number of sequences of the same lengths have equal shares, in any shape. Equal shapes are recognised by
// fingerprints (fingerprints.h).
class ShapeTable {
 public:
  int add(const Shape& shape);  // returns the position of an equal shape, or of the new one
  // Frees the memory of a shape that no placement will use any more. Its position is not reused.
  void forget(int position);
  [[nodiscard]] const Shape& at(int position) const { return shapes_[static_cast<std::size_t>(position)]; }
  [[nodiscard]] int kind(int position) const { return kinds_[static_cast<std::size_t>(position)]; }
  [[nodiscard]] int cut(int position) const { return cuts_[static_cast<std::size_t>(position)]; }
  // Numbers of the shares, by replica.
  [[nodiscard]] const std::vector<std::uint32_t>& shares(int position) const {
    return *shares_[static_cast<std::size_t>(position)];
  }
  [[nodiscard]] int size() const { return static_cast<int>(shapes_.size()); }

 private:
  // Values by position. Deques: large searches add hundreds of thousands, and references must stay valid.
  std::deque<Shape> shapes_;
  std::deque<int> kinds_, cuts_;
  using Shares = std::shared_ptr<const std::vector<std::uint32_t>>;
  std::deque<Shares> shares_;  // shared by shapes that split the batch alike
  struct Prints {
    Fingerprint cut;    // of degrees and layers
    Fingerprint kind;   // of these and the batches
    Fingerprint whole;  // and of shares
    Fingerprint deal;   // of shares alone
  };
  struct Hash {
    std::size_t operator()(const Fingerprint& print) const { return print.low; }
  };
  using Positions = std::unordered_map<Fingerprint, int, Hash>;
  [[nodiscard]] static Prints prints_of(const Shape& shape);
  Positions position_of_, kind_of_, cut_of_;
  [[nodiscard]] Shares shares_of(const Shape& shape, const Fingerprint& deal);
  [[nodiscard]] std::vector<std::uint32_t> new_shares_of(const Shape& shape);
  std::unordered_map<Fingerprint, Shares, Hash> shares_of_deal_;
  struct Share {
    int sequences;
    SequenceRange range;
    friend auto operator<=>(const Share& a, const Share& b) {
      return std::tuple(a.sequences, a.range.first, a.range.last) <=>
             std::tuple(b.sequences, b.range.first, b.range.last);
    }
  };
  std::map<Share, std::uint32_t> share_numbers_;
};

// `execution`: the one that the shape refers to.
[[nodiscard]] TaskPlan task_plan(const Shape& shape, std::span<const std::uint16_t> devices,
                                 const Execution& execution, int sequences);
// Replica `number`, on its devices, as the first replica; the others follow cyclically with their shares alone.
[[nodiscard]] TaskPlan first_replica_plan(const Shape& shape, int number,
                                          std::span<const std::uint16_t> devices, const Execution& execution,
                                          int sequences);
// The plan with all layers on one device.
[[nodiscard]] TaskPlan one_device_plan(DeviceId device, int layers, const Execution& execution, int sequences);

// The inverse of task_plan(): a layout in the representation of a candidate.
struct CanonicalLayout {
  Shape shape;
  std::vector<std::uint16_t> devices;  // by position
};

// Returns nullopt if replicas or stages differ in their partitioning. `sequences`: the workflow's number. The
// shape's execution is left at 0.
[[nodiscard]] std::optional<CanonicalLayout> canonical_layout_of(const TaskPlan& plan, int sequences);

}  // namespace sextant::inline planner
