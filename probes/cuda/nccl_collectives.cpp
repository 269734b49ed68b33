#include "probes/gpu/libraries/nccl_collectives.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/units.h"
#include "probes/collective/collective_data.h"
#include "probes/collective/group_point.h"
#include "probes/cuda/cuda_resources.h"
#include "probes/gpu/libraries/nccl_communicator.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

using Time = std::chrono::steady_clock;

// A rank that is gone leaves the others in their kernels for ever.
constexpr std::chrono::seconds kMaxForABatch{60};
constexpr std::size_t kChunkElements = std::size_t{16} << 20;
constexpr std::size_t kMessageChunkBytes = std::size_t{16} << 20;

// A communicator with its stream. Ended, not destroyed, once anything failed.
class NcclRank {
 public:
  NcclRank(const NcclLibrary& nccl, const NcclSeat& seat, int device)
      : device_(device),
        rank_(seat.rank),
        ranks_(seat.ranks),
        stream_(device),
        communicator_(nccl, seat, [device] { check_cuda(cudaSetDevice(device), "selecting a GPU"); }) {}

  [[nodiscard]] const NcclLibrary& nccl() const { return communicator_.nccl(); }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] NcclCommunicator& communicator() { return communicator_; }
  void select() const { check_cuda(cudaSetDevice(device_), "selecting a GPU"); }

  // Queues `repeats` executions and waits; the seconds by the host's clock.
  template <typename Enqueue>
  [[nodiscard]] double run_s(int repeats, Enqueue enqueue) {
    select();
    const auto start = Time::now();
    try {
      for (int repeat = 0; repeat < repeats; ++repeat) enqueue();
      wait();
    } catch (const std::exception& error) {
      communicator_.end(std::string("NCCL was ended after a failure: ") + error.what());
      throw;
    }
    return std::chrono::duration<double>(Time::now() - start).count();
  }

 private:
  void wait() {
    const auto deadline = Time::now() + kMaxForABatch;
    for (;;) {
      const cudaError_t status = cudaStreamQuery(stream());
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) check_cuda(status, "running a collective");
      communicator_.check("running a collective");
      if (Time::now() > deadline) {
        throw_machine_failed("NCCL: a collective did not end within " +
                             format_seconds(static_cast<double>(kMaxForABatch.count())) +
                             ": another rank failed or hangs");
      }
      std::this_thread::yield();
    }
  }

  int device_;
  int rank_;
  int ranks_;
  TimedStream stream_;
  NcclCommunicator communicator_;
};

std::vector<float> chunk_at(std::size_t first, std::size_t elements) {
  return std::vector<float>(std::min(kChunkElements, elements - first));
}

class NcclRun final : public CollectiveRun {
 public:
  NcclRun(NcclRank& rank, const CollectiveShape& shape)
      : rank_(rank),
        shape_(shape),
        sent_((rank.select(), shape.elements() * sizeof(float))),
        received_(shape.buffers() == 2 ? shape.elements() * sizeof(float) : sizeof(float)) {
    fill();
  }

  [[nodiscard]] double run_s(int repeats) override {
    return rank_.run_s(repeats, [&] { enqueue(); });
  }

  [[nodiscard]] bool is_right() override {
    rank_.select();
    check_cuda(cudaMemset(received_.data(), 0, shape_.buffers() == 2 ? shape_.elements() * sizeof(float) : 0),
               "clearing a buffer");
    fill();  // and waits for both: NCCL's stream does not wait for the default one
    static_cast<void>(run_s(1));
    const auto* result = (shape_.buffers() == 2 ? received_ : sent_).as<float>();
    for (std::size_t first = 0; first < shape_.elements(); first += kChunkElements) {
      std::vector<float> chunk = chunk_at(first, shape_.elements());
      check_cuda(cudaMemcpy(chunk.data(), result + first, chunk.size() * sizeof(float), cudaMemcpyDeviceToHost),
                 "reading a collective's result");
      if (count_wrong(shape_, rank_.rank(), first, chunk) > 0) return false;
    }
    return true;
  }

 private:
  void fill() {
    for (std::size_t first = 0; first < shape_.elements(); first += kChunkElements) {
      std::vector<float> chunk = chunk_at(first, shape_.elements());
      fill_input(shape_, rank_.rank(), first, chunk);
      check_cuda(cudaMemcpy(sent_.as<float>() + first, chunk.data(), chunk.size() * sizeof(float),
                            cudaMemcpyHostToDevice),
                 "filling a buffer");
    }
    check_cuda(cudaDeviceSynchronize(), "filling a buffer");
  }

  void enqueue() {
    rank_.communicator().use(std::string(name_of(shape_.kind)),
                             [this](NcclComm comm) { return queue_on(comm); });
  }

  // NCCL's status.
  [[nodiscard]] int queue_on(NcclComm comm) {
    const NcclLibrary& nccl = rank_.nccl();
    float* buffer = sent_.as<float>();
    const std::size_t part = shape_.part_elements;
    float* mine = buffer + static_cast<std::size_t>(rank_.rank()) * part;
    const cudaStream_t stream = rank_.stream();
    switch (shape_.kind) {
      case CollectiveKind::all_reduce:
        return nccl.all_reduce(buffer, buffer, part, kNcclFp32, kNcclSum, comm, stream);
      case CollectiveKind::all_gather:
        return nccl.all_gather(mine, buffer, part, kNcclFp32, comm, stream);
      case CollectiveKind::reduce_scatter:
        return nccl.reduce_scatter(buffer, mine, part, kNcclFp32, kNcclSum, comm, stream);
      case CollectiveKind::broadcast:
        return nccl.broadcast(buffer, buffer, part, kNcclFp32, 0, comm, stream);
      case CollectiveKind::all_to_all:
        return grouped([&] {
          int status = kNcclSuccess;
          for (int peer = 0; peer < rank_.ranks() && status == kNcclSuccess; ++peer) {
            const std::size_t at = static_cast<std::size_t>(peer) * part;
            status = exchange(comm, buffer + at, peer, received_.as<float>() + at, peer);
          }
          return status;
        });
      case CollectiveKind::send_receive:
        return grouped([&] {
          const int next = (rank_.rank() + 1) % rank_.ranks();
          const int before = (rank_.rank() + rank_.ranks() - 1) % rank_.ranks();
          return exchange(comm, buffer, next, received_.as<float>(), before);
        });
    }
    return kNcclSuccess;
  }

  template <typename Calls>
  [[nodiscard]] int grouped(Calls calls) {
    const int started = rank_.nccl().group_start();
    if (started != kNcclSuccess) return started;
    const int called = calls();
    const int ended = rank_.nccl().group_end();  // in any case, or everything later is part of the group
    return called != kNcclSuccess ? called : ended;
  }

  [[nodiscard]] int exchange(NcclComm comm, const float* out, int to, float* in, int from) {
    const NcclLibrary& nccl = rank_.nccl();
    const std::size_t part = shape_.part_elements;
    const int sent = nccl.send(out, part, kNcclFp32, to, comm, rank_.stream());
    return sent != kNcclSuccess ? sent : nccl.receive(in, part, kNcclFp32, from, comm, rank_.stream());
  }

  NcclRank& rank_;
  CollectiveShape shape_;
  DeviceBuffer sent_;
  DeviceBuffer received_;
};

// The lower rank sends from one buffer and gets it back in another; the higher returns what it got.
class NcclRoundTrip final : public CollectiveRun {
 public:
  NcclRoundTrip(NcclRank& rank, int peer, std::size_t bytes)
      : rank_(rank),
        peer_(peer),
        bytes_(bytes),
        pattern_(message_pattern(std::min(bytes, kMessageChunkBytes))),
        sent_((rank.select(), bytes)),
        received_(bytes) {
    for (std::size_t at = 0; at < bytes_; at += pattern_.size()) {
      check_cuda(
          cudaMemcpy(sent_.as<unsigned char>() + at, pattern_.data(), chunk_bytes(at), cudaMemcpyHostToDevice),
          "filling a message");
    }
    check_cuda(cudaDeviceSynchronize(), "filling a message");
  }

  [[nodiscard]] double run_s(int repeats) override {
    return rank_.run_s(repeats, [&] {
      if (rank_.rank() < peer_) {
        send(sent_);
        receive();
      } else {
        receive();
        send(received_);
      }
    });
  }

  [[nodiscard]] bool is_right() override {
    rank_.select();
    check_cuda(cudaMemset(received_.data(), 0, bytes_), "clearing a message");
    check_cuda(cudaDeviceSynchronize(), "clearing a message");
    static_cast<void>(run_s(1));
    std::vector<unsigned char> arrived(pattern_.size());
    for (std::size_t at = 0; at < bytes_; at += pattern_.size()) {
      check_cuda(cudaMemcpy(arrived.data(), received_.as<unsigned char>() + at, chunk_bytes(at),
                            cudaMemcpyDeviceToHost),
                 "reading a message");
      if (std::memcmp(arrived.data(), pattern_.data(), chunk_bytes(at)) != 0) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::size_t chunk_bytes(std::size_t at) const { return std::min(pattern_.size(), bytes_ - at); }
  void send(const DeviceBuffer& from) {
    rank_.communicator().use("send", [&](NcclComm comm) {
      return rank_.nccl().send(from.data(), bytes_, kNcclInt8, peer_, comm, rank_.stream());
    });
  }
  void receive() {
    rank_.communicator().use("receive", [&](NcclComm comm) {
      return rank_.nccl().receive(received_.data(), bytes_, kNcclInt8, peer_, comm, rank_.stream());
    });
  }

  NcclRank& rank_;
  int peer_;
  std::size_t bytes_;
  std::vector<unsigned char> pattern_;  // the message is this again and again
  DeviceBuffer sent_;
  DeviceBuffer received_;
};

class NcclCollectives final : public Collectives {
 public:
  NcclCollectives(const NcclLibrary& nccl, Communicator& ranks, const NcclId& id, int device)
      : rank_(nccl, {ranks.size(), ranks.rank(), id}, device) {}

  [[nodiscard]] std::string name() const override { return "nccl"; }
  [[nodiscard]] std::string description() const override {
    return "NCCL " + rank_.nccl().version() + ", host clock";
  }
  [[nodiscard]] double free_bytes() const override {
    rank_.select();
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory");
    return static_cast<double>(free_bytes);
  }
  [[nodiscard]] std::unique_ptr<CollectiveRun> prepare(const CollectiveShape& shape) override {
    return std::make_unique<NcclRun>(rank_, shape);
  }
  [[nodiscard]] std::unique_ptr<CollectiveRun> prepare_round_trip(int peer, std::size_t bytes) override {
    return std::make_unique<NcclRoundTrip>(rank_, peer, bytes);
  }

 private:
  NcclRank rank_;
};

}  // namespace

CollectivesOrReason make_nccl_collectives(Communicator& ranks, int device) {
  std::string reason;
  const NcclLibrary* nccl = NcclLibrary::open(reason);
  // A rank that does not come keeps the others waiting until the limit: all agree before.
  NcclId id{};
  if (nccl != nullptr) {
    if (cudaSetDevice(device) != cudaSuccess) reason = "GPU " + std::to_string(device) + " cannot be selected";
    if (ranks.rank() == 0 && nccl->get_id(&id) != kNcclSuccess) reason = "NCCL cannot start a communicator";
  }
  if (const std::string why = first_complaint(ranks, reason); !why.empty()) return {nullptr, why};
  ranks.broadcast(std::as_writable_bytes(std::span(id.bytes)), 0);
  CollectivesOrReason made;
  try {
    made.collectives = std::make_unique<NcclCollectives>(*nccl, ranks, id, device);
  } catch (const std::exception& error) {
    reason = error.what();
  }
  made.reason = first_complaint(ranks, reason);
  if (!made.reason.empty()) made.collectives.reset();
  return made;
}

}  // namespace sextant::inline probes
