// The time of one replica of a task for a number of sequences, and the maximum number for a given time. The
// calibrated model replaces the constant throughput h of AReaL-Hex (section 4.2.2, from HexGen).
//
// Times are computed once per kind of replica and number of sequences. Beyond 64 sequences the model is
// evaluated at numbers 6 % apart and interpolated between them; whole plans are costed by the model itself.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "planner/two_phase/costing.h"

namespace sextant::inline planner {

// A configuration psi: the devices of a replica and its partitioning.
struct ReplicaKind {
  int machine_class = 0;  // pieces.h
  NodeId machine;         // one of the class; must have size() devices
  int tensor_parallel = 1;
  int stages = 1;  // inside the machine

  [[nodiscard]] int size() const { return tensor_parallel * stages; }
};

// The batch options that all replicas of a task share.
struct BatchCut {
  int micro_batch_sequences = 1;
  int decode_batch_sequences = 0;  // as in TaskPlan

  friend auto operator<=>(const BatchCut&, const BatchCut&) = default;  // NOLINT(modernize-use-nullptr)
};

// The times of one kind of replica.
class ReplicaCurve {
 public:
  // The costing must outlive the object.
  ReplicaCurve(const Costing& costing, int task, const ReplicaKind& kind, const BatchCut& cut);

  [[nodiscard]] const ReplicaKind& kind() const { return kind_; }
  // Maximum number of sequences that fit the replica's memory; 0: not one.
  [[nodiscard]] int max_sequences() const { return sequences_.empty() ? 0 : sequences_.back(); }
  // sequences: from 1 to max_sequences.
  [[nodiscard]] double time_s(int sequences);
  // Maximum number of sequences that finish within `within_s`.
  [[nodiscard]] int capacity(double within_s);

 private:
  [[nodiscard]] ReplicaValue value(int sequences) const;
  [[nodiscard]] int find_most() const;
  [[nodiscard]] double at(std::size_t point);

  const Costing& costing_;
  int task_;
  ReplicaKind kind_;
  BatchCut cut_;
  std::vector<int> sequences_;  // ascending, the last is the maximum that fits
  std::vector<double> time_s_;  // by position in sequences_; negative: not computed yet
};

// The curves of all kinds that were requested.
class ReplicaTimes {
 public:
  // The task must be separable (TaskModel).
  ReplicaTimes(const Costing& costing, int task) : costing_(costing), task_(task) {}

  // The curve of a kind; machines of a class share one. Valid as long as this object.
  [[nodiscard]] ReplicaCurve& of(const ReplicaKind& kind, const BatchCut& cut);

 private:
  const Costing& costing_;
  int task_;
  std::map<std::tuple<int, int, int, BatchCut>, ReplicaCurve> curves_;
};

}  // namespace sextant::inline planner
