// Collectives on host memory as ranks without GPUs use them, with hooks to inject faults.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/collective/rank_collectives.h"
#include "probes/comm/communicator.h"
#include "probes/harness/clock.h"
#include "sextant/error.h"

namespace sextant {

class HostCollectiveRun final : public RankCollectiveRun {
 public:
  // spoil: changes the received data, to test that it is detected.
  HostCollectiveRun(Communicator& world, const CollectiveShape& shape, const Clock& clock,
                    std::function<void(std::vector<float>&)> spoil)
      : RankCollectiveRun(world, shape, clock), spoil_(std::move(spoil)) {}

 private:
  void execute() override {
    RankCollectiveRun::execute();
    if (spoil_) spoil_(result());
  }

  std::function<void(std::vector<float>&)> spoil_;
};

class HostRoundTrip final : public RankRoundTrip {
 public:
  // message_s: the time of a message, if a test needs the same value on every machine.
  HostRoundTrip(Communicator& world, int peer, std::size_t bytes, const Clock& clock,
                std::optional<double> message_s)
      : RankRoundTrip(world, peer, bytes, clock), message_s_(message_s) {}

  [[nodiscard]] double run_s(int repeats) override {
    const double took_s = RankRoundTrip::run_s(repeats);
    return message_s_ ? 2 * repeats * *message_s_ : took_s;
  }

 private:
  std::optional<double> message_s_;
};

class HostCollectives final : public Collectives {
 public:
  explicit HostCollectives(Communicator& world, const Clock& clock = steady_clock())
      : world_(world), clock_(clock) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string description() const override { return "host memory, host clock"; }
  [[nodiscard]] double free_bytes() const override { return free_bytes_; }
  [[nodiscard]] std::unique_ptr<CollectiveRun> prepare(const CollectiveShape& shape) override {
    if (on_prepare_) on_prepare_(shape);
    return std::make_unique<HostCollectiveRun>(world_, shape, clock_, spoil_);
  }
  [[nodiscard]] std::unique_ptr<CollectiveRun> prepare_round_trip(int peer, std::size_t bytes) override {
    if (on_round_trip_) on_round_trip_(peer, bytes);
    return std::make_unique<HostRoundTrip>(world_, peer, bytes, clock_,
                                           message_s_ ? std::optional(message_s_(bytes)) : std::nullopt);
  }

  std::string name_ = "host";
  double free_bytes_ = 1e6;
  std::function<void(const CollectiveShape&)> on_prepare_;
  std::function<void(int, std::size_t)> on_round_trip_;
  std::function<void(std::vector<float>&)> spoil_;
  std::function<double(std::size_t bytes)> message_s_;  // time of a message; unset: measured by the clock

 private:
  Communicator& world_;
  const Clock& clock_;
};

}  // namespace sextant
