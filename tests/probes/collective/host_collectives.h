// Collectives on the host's memory over the project's communicator: what NCCL does, for real, without a GPU.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "probes/collective/collective_data.h"
#include "probes/collective/collectives.h"
#include "probes/comm/communicator.h"
#include "probes/harness/clock.h"

namespace sextant {

class HostCollectiveRun final : public CollectiveRun {
 public:
  // spoil: changes what arrived, to see that it is found.
  HostCollectiveRun(Communicator& world, const CollectiveShape& shape, const Clock& clock,
                    std::function<void(std::vector<float>&)> spoil)
      : world_(world),
        shape_(shape),
        clock_(clock),
        spoil_(std::move(spoil)),
        sent_(shape.elements()),
        received_(shape.buffers() == 2 ? shape.elements() : 0) {}

  [[nodiscard]] double run_s(int repeats) override {
    const double start_s = clock_.now_s();
    for (int repeat = 0; repeat < repeats; ++repeat) execute();
    return clock_.now_s() - start_s;
  }

  [[nodiscard]] bool is_right() override {
    fill_input(shape_, world_.rank(), 0, sent_);
    execute();
    std::vector<float>& result = shape_.buffers() == 2 ? received_ : sent_;
    if (spoil_) spoil_(result);
    return count_wrong(shape_, world_.rank(), 0, result) == 0;
  }

 private:
  [[nodiscard]] std::size_t mine() const {
    return static_cast<std::size_t>(world_.rank()) * shape_.part_elements;
  }
  std::span<float> part_of(std::vector<float>& buffer, int rank) const {
    return std::span(buffer).subspan(static_cast<std::size_t>(rank) * shape_.part_elements,
                                     shape_.part_elements);
  }

  void execute() {
    switch (shape_.kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce_scatter:
        return world_.all_reduce_sum(std::span<float>(sent_));
      case CollectiveKind::all_gather: {
        const auto part = part_of(sent_, world_.rank());
        const std::vector<float> copy(part.begin(), part.end());
        return world_.all_gather(std::span<const float>(copy), std::span<float>(sent_));
      }
      case CollectiveKind::broadcast:
        return world_.broadcast(std::as_writable_bytes(std::span(sent_)), 0);
      case CollectiveKind::all_to_all:
        for (int rank = 0; rank < world_.size(); ++rank)
          exchange(part_of(sent_, rank), rank, rank, part_of(received_, rank));
        break;
      case CollectiveKind::send_receive: {
        const int size = world_.size();
        exchange(sent_, (world_.rank() + 1) % size, (world_.rank() + size - 1) % size, received_);
      }
    }
    world_.finish_sends();
  }

  // With itself too.
  void exchange(std::span<float> out, int to, int from, std::span<float> in) {
    constexpr int kTag = 9;
    if (to == world_.rank()) {
      std::copy(out.begin(), out.end(), in.begin());
      return;
    }
    world_.send_buffered(std::as_bytes(out), to, kTag);
    world_.receive(std::as_writable_bytes(in), from, kTag);
  }

  Communicator& world_;
  CollectiveShape shape_;
  const Clock& clock_;
  std::function<void(std::vector<float>&)> spoil_;
  std::vector<float> sent_;
  std::vector<float> received_;
};

class HostRoundTrip final : public CollectiveRun {
 public:
  // message_s: what a message is said to take, where a test asks for one value on every machine.
  HostRoundTrip(Communicator& world, int peer, std::size_t bytes, const Clock& clock,
                std::optional<double> message_s)
      : world_(world), peer_(peer), clock_(clock), message_s_(message_s), message_(bytes) {}

  [[nodiscard]] double run_s(int repeats) override {
    const double start_s = clock_.now_s();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      if (world_.rank() < peer_) world_.send(message_, peer_, kTag);
      world_.receive(message_, peer_, kTag);
      if (world_.rank() > peer_) world_.send(message_, peer_, kTag);
    }
    if (message_s_) return 2 * repeats * *message_s_;
    return clock_.now_s() - start_s;
  }

  [[nodiscard]] bool is_right() override {
    const auto sent = static_cast<std::byte>(world_.rank() < peer_ ? 77 : 0);
    std::fill(message_.begin(), message_.end(), sent);
    static_cast<void>(run_s(1));
    return std::all_of(message_.begin(), message_.end(), [](std::byte byte) { return byte == std::byte{77}; });
  }

 private:
  static constexpr int kTag = 10;
  Communicator& world_;
  int peer_;
  const Clock& clock_;
  std::optional<double> message_s_;
  std::vector<std::byte> message_;
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
  std::function<double(std::size_t bytes)> message_s_;  // of a message; as the clock says without it

 private:
  Communicator& world_;
  const Clock& clock_;
};

}  // namespace sextant
