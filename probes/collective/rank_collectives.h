// Collectives between ranks on host memory, over the ranks' own transport (MPI, threads).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probes/collective/collectives.h"
#include "probes/comm/communicator.h"
#include "probes/harness/clock.h"

namespace sextant::inline probes {

class RankCollectiveRun : public CollectiveRun {
 public:
  RankCollectiveRun(Communicator& ranks, const CollectiveShape& shape, const Clock& clock);

  [[nodiscard]] double run_s(int repeats) override;
  [[nodiscard]] bool is_right() override;

 protected:
  virtual void execute();
  // The data that this rank received.
  [[nodiscard]] std::vector<float>& result() { return shape_.buffers() == 2 ? received_ : sent_; }

 private:
  [[nodiscard]] std::span<float> own_part();
  void pass_on();

  Communicator& ranks_;
  CollectiveShape shape_;
  const Clock& clock_;
  std::vector<float> sent_;
  std::vector<float> received_;
  std::vector<float> part_;  // used by collectives with parts
};

class RankRoundTrip : public CollectiveRun {
 public:
  RankRoundTrip(Communicator& ranks, int peer, std::size_t bytes, const Clock& clock)
      : ranks_(ranks), peer_(peer), clock_(clock), message_(bytes) {}

  [[nodiscard]] double run_s(int repeats) override;
  [[nodiscard]] bool is_right() override;

 private:
  Communicator& ranks_;
  int peer_;
  const Clock& clock_;
  std::vector<std::byte> message_;
};

class RankCollectives final : public Collectives {
 public:
  // `memory_bytes`: memory available for the buffers of this rank.
  RankCollectives(Communicator& ranks, double memory_bytes, const Clock& clock = steady_clock())
      : ranks_(ranks), memory_bytes_(memory_bytes), clock_(clock) {}

  [[nodiscard]] std::string name() const override { return "mpi"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] double free_bytes() const override { return memory_bytes_; }
  [[nodiscard]] std::unique_ptr<CollectiveRun> prepare(const CollectiveShape& shape) override;
  [[nodiscard]] std::unique_ptr<CollectiveRun> prepare_round_trip(int peer, std::size_t bytes) override;

 private:
  Communicator& ranks_;
  double memory_bytes_;
  const Clock& clock_;
};

}  // namespace sextant::inline probes
