// A library of collectives, of one rank, behind a thin layer.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "probes/collective/collective_shape.h"

namespace sextant {

// One operation with its buffers. All ranks that take part call the same functions in the same order.
class CollectiveRun {
 public:
  CollectiveRun() = default;
  virtual ~CollectiveRun() = default;
  CollectiveRun(const CollectiveRun&) = delete;
  CollectiveRun& operator=(const CollectiveRun&) = delete;

  // Executes it `repeats` times in a row and returns the seconds that took this rank. Throws Error(machine)
  // when it, or a rank that it waited for, failed.
  [[nodiscard]] virtual double run_s(int repeats) = 0;
  // Executes it once on known data (collective_data.h) and looks at what this rank has got.
  [[nodiscard]] virtual bool is_right() = 0;
};

class Collectives {
 public:
  Collectives() = default;
  virtual ~Collectives() = default;
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  // "nccl": what the names of results begin with.
  [[nodiscard]] virtual std::string name() const = 0;
  // "NCCL 2.28.9, device clock".
  [[nodiscard]] virtual std::string description() const = 0;
  // What this rank's buffers may take.
  [[nodiscard]] virtual double free_bytes() const = 0;

  // Of this rank; nothing is exchanged yet. Throws Error(machine) when there is no memory.
  [[nodiscard]] virtual std::unique_ptr<CollectiveRun> prepare(const CollectiveShape& shape) = 0;
  // A message to `peer` and back (the lower rank sends first); its data is checked at both ends.
  [[nodiscard]] virtual std::unique_ptr<CollectiveRun> prepare_round_trip(int peer, std::size_t bytes) = 0;
};

// The library, or why there is none.
struct CollectivesOrReason {
  std::unique_ptr<Collectives> collectives;
  std::string reason;
};

}  // namespace sextant
