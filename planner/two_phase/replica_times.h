// How long one replica of a task takes for a number of sequences, and how many it can take in a given time: the
// calibrated model in place of the constant throughput h of AReaL-Hex (section 4.2.2, from HexGen).
//
// Times are asked once per kind of replica and number of sequences. Beyond 64 sequences the model is asked at
// numbers 6 % apart and times between them are interpolated; whole plans are costed by the model itself.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "planner/two_phase/costing.h"

namespace sextant {

// A configuration psi: what it runs on and how it is cut.
struct ReplicaKind {
  int machine_class = 0;  // pieces.h
  NodeId machine;         // one of the class; must have size() devices
  int tensor_parallel = 1;
  int stages = 1;  // inside the machine

  [[nodiscard]] int size() const { return tensor_parallel * stages; }
};

// What all replicas of a task have in common.
struct BatchCut {
  int micro_batch_sequences = 1;
  int decode_batch_sequences = 0;  // as TaskPlan has it

  friend auto operator<=>(const BatchCut&, const BatchCut&) = default;  // NOLINT(modernize-use-nullptr)
};

// Of one kind of replica.
class ReplicaCurve {
 public:
  // The costing must outlive it.
  ReplicaCurve(const Costing& costing, int task, const ReplicaKind& kind, const BatchCut& cut);

  [[nodiscard]] const ReplicaKind& kind() const { return kind_; }
  // That the replica's own memory holds; 0: not one.
  [[nodiscard]] int max_sequences() const { return sequences_.empty() ? 0 : sequences_.back(); }
  // sequences: from 1 to max_sequences.
  [[nodiscard]] double time_s(int sequences);
  // Most sequences that are done by `within_s`.
  [[nodiscard]] int capacity(double within_s);

 private:
  [[nodiscard]] ReplicaValue value(int sequences) const;
  [[nodiscard]] int find_most() const;
  [[nodiscard]] double at(std::size_t point);

  const Costing& costing_;
  int task_;
  ReplicaKind kind_;
  BatchCut cut_;
  std::vector<int> sequences_;  // ascending, the last is the most that fits
  std::vector<double> time_s_;  // by number above; negative: not asked yet
};

// Of all kinds that were asked about.
class ReplicaTimes {
 public:
  // The task must be separable (TaskModel).
  ReplicaTimes(const Costing& costing, int task) : costing_(costing), task_(task) {}

  // Machines of a class have one. Valid as long as this is.
  [[nodiscard]] ReplicaCurve& of(const ReplicaKind& kind, const BatchCut& cut);

 private:
  const Costing& costing_;
  int task_;
  std::map<std::tuple<int, int, int, BatchCut>, ReplicaCurve> curves_;
};

}  // namespace sextant
