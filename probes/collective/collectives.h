// A library of collectives on one rank, behind a thin interface.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "probes/collective/collective_shape.h"

namespace sextant::inline probes {

// One operation with its buffers. All participating ranks call the same functions in the same order.
class CollectiveRun {
 public:
  CollectiveRun() = default;
  virtual ~CollectiveRun() = default;
  CollectiveRun(const CollectiveRun&) = delete;
  CollectiveRun& operator=(const CollectiveRun&) = delete;

  // Executes it `repeats` times in a row and returns the seconds on this rank. Throws Error(machine) if it, or
  // a rank for which it waited, failed.
  [[nodiscard]] virtual double run_s(int repeats) = 0;
  // Executes it once on known data (collective_data.h) and checks this rank's result.
  [[nodiscard]] virtual bool is_right() = 0;
};

class Collectives {
 public:
  Collectives() = default;
  virtual ~Collectives() = default;
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  // "nccl": the prefix of result names.
  [[nodiscard]] virtual std::string name() const = 0;
  // "NCCL 2.28.9, device clock".
  [[nodiscard]] virtual std::string description() const = 0;
  // The memory available for this rank's buffers.
  [[nodiscard]] virtual double free_bytes() const = 0;

  // Prepares the operation on this rank, without communication. Throws Error(machine) if memory is short.
  [[nodiscard]] virtual std::unique_ptr<CollectiveRun> prepare(const CollectiveShape& shape) = 0;
  // A message to `peer` and back (the lower rank sends first); both ends check the data.
  [[nodiscard]] virtual std::unique_ptr<CollectiveRun> prepare_round_trip(int peer, std::size_t bytes) = 0;
};

// The library, or the reason why there is none.
struct CollectivesOrReason {
  std::unique_ptr<Collectives> collectives;
  std::string reason;
};

}  // namespace sextant::inline probes
