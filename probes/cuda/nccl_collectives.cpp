#include "probes/cuda/nccl_collectives.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/units.h"
#include "probes/collective/collective_data.h"
#include "probes/collective/group_point.h"
#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/nccl_library.h"

namespace sextant {
namespace {

using Time = std::chrono::steady_clock;

// A rank that is gone leaves the others in their kernels for ever.
constexpr std::chrono::seconds kMostForABatch{60};
constexpr std::size_t kChunkElements = std::size_t{16} << 20;

// A communicator with its stream. Aborted, not destroyed, once anything failed.
class NcclRank {
 public:
  NcclRank(const NcclLibrary& nccl, int ranks, const NcclId& id, int rank, int device)
      : nccl_(nccl), device_(device), rank_(rank), ranks_(ranks), stream_(device) {
    select();
    nccl_.check(nccl_.init_rank(&communicator_, ranks, id, rank),
                "joining " + std::to_string(ranks) + " ranks");
  }
  ~NcclRank() {
    if (communicator_ == nullptr) return;
    static_cast<void>(cudaSetDevice(device_));
    static_cast<void>(nccl_.destroy(communicator_));
  }
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  [[nodiscard]] const NcclLibrary& nccl() const { return nccl_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] NcclComm communicator() const {
    if (communicator_ == nullptr) throw_machine_failed("NCCL was ended after a failure");
    return communicator_;
  }
  void select() const { check_cuda(cudaSetDevice(device_), "selecting a GPU"); }

  // Queues `repeats` executions and waits; the seconds by the host's clock.
  template <typename Enqueue>
  [[nodiscard]] double run_s(int repeats, Enqueue enqueue) {
    select();
    const auto start = Time::now();
    try {
      for (int repeat = 0; repeat < repeats; ++repeat) enqueue();
      wait();
    } catch (const std::exception&) {
      end();
      throw;
    }
    return std::chrono::duration<double>(Time::now() - start).count();
  }

 private:
  void wait() {
    const auto deadline = Time::now() + kMostForABatch;
    for (;;) {
      const cudaError_t status = cudaStreamQuery(stream());
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) check_cuda(status, "running a collective");
      int error = kNcclSuccess;
      nccl_.check(nccl_.async_error(communicator_, &error), "asking for errors");
      if (error != kNcclInProgress) nccl_.check(error, "running a collective");
      if (Time::now() > deadline) {
        throw_machine_failed("NCCL: a collective did not end within " +
                             format_seconds(static_cast<double>(kMostForABatch.count())) +
                             ": another rank failed or hangs");
      }
      std::this_thread::yield();
    }
  }

  // Frees the kernels that wait for others.
  void end() {
    if (communicator_ != nullptr) static_cast<void>(nccl_.abort(std::exchange(communicator_, nullptr)));
  }

  const NcclLibrary& nccl_;
  int device_;
  int rank_;
  int ranks_;
  TimedStream stream_;
  NcclComm communicator_ = nullptr;
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
    const NcclLibrary& nccl = rank_.nccl();
    float* buffer = sent_.as<float>();
    const std::size_t part = shape_.part_elements;
    float* mine = buffer + static_cast<std::size_t>(rank_.rank()) * part;
    const NcclComm comm = rank_.communicator();
    const cudaStream_t stream = rank_.stream();
    switch (shape_.kind) {
      case CollectiveKind::all_reduce:
        return nccl.check(nccl.all_reduce(buffer, buffer, part, kNcclFp32, kNcclSum, comm, stream),
                          "all-reduce");
      case CollectiveKind::all_gather:
        return nccl.check(nccl.all_gather(mine, buffer, part, kNcclFp32, comm, stream), "all-gather");
      case CollectiveKind::reduce_scatter:
        return nccl.check(nccl.reduce_scatter(buffer, mine, part, kNcclFp32, kNcclSum, comm, stream),
                          "reduce-scatter");
      case CollectiveKind::broadcast:
        return nccl.check(nccl.broadcast(buffer, buffer, part, kNcclFp32, 0, comm, stream), "broadcast");
      case CollectiveKind::all_to_all:
        return grouped([&] {
          for (int peer = 0; peer < rank_.ranks(); ++peer) {
            const std::size_t at = static_cast<std::size_t>(peer) * part;
            exchange(buffer + at, peer, received_.as<float>() + at, peer);
          }
        });
      case CollectiveKind::send_receive:
        return grouped([&] {
          const int next = (rank_.rank() + 1) % rank_.ranks();
          const int before = (rank_.rank() + rank_.ranks() - 1) % rank_.ranks();
          exchange(buffer, next, received_.as<float>(), before);
        });
    }
  }

  template <typename Calls>
  void grouped(Calls calls) {
    rank_.nccl().check(rank_.nccl().group_start(), "starting a group");
    calls();
    rank_.nccl().check(rank_.nccl().group_end(), "ending a group");
  }

  void exchange(const float* out, int to, float* in, int from) {
    const NcclLibrary& nccl = rank_.nccl();
    const std::size_t part = shape_.part_elements;
    nccl.check(nccl.send(out, part, kNcclFp32, to, rank_.communicator(), rank_.stream()), "send");
    nccl.check(nccl.receive(in, part, kNcclFp32, from, rank_.communicator(), rank_.stream()), "receive");
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
      : rank_(rank), peer_(peer), message_(bytes), sent_((rank.select(), bytes)), received_(bytes) {
    for (std::size_t at = 0; at < bytes; ++at) message_[at] = static_cast<unsigned char>(at % 251 + 1);
    check_cuda(cudaMemcpy(sent_.data(), message_.data(), bytes, cudaMemcpyHostToDevice), "filling a message");
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
    check_cuda(cudaMemset(received_.data(), 0, message_.size()), "clearing a message");
    check_cuda(cudaDeviceSynchronize(), "clearing a message");
    static_cast<void>(run_s(1));
    std::vector<unsigned char> arrived(message_.size());
    check_cuda(cudaMemcpy(arrived.data(), received_.data(), arrived.size(), cudaMemcpyDeviceToHost),
               "reading a message");
    return arrived == message_;
  }

 private:
  void send(const DeviceBuffer& from) {
    rank_.nccl().check(
        rank_.nccl().send(from.data(), message_.size(), kNcclInt8, peer_, rank_.communicator(), rank_.stream()),
        "send");
  }
  void receive() {
    rank_.nccl().check(rank_.nccl().receive(received_.data(), message_.size(), kNcclInt8, peer_,
                                            rank_.communicator(), rank_.stream()),
                       "receive");
  }

  NcclRank& rank_;
  int peer_;
  std::vector<unsigned char> message_;
  DeviceBuffer sent_;
  DeviceBuffer received_;
};

class NcclCollectives final : public Collectives {
 public:
  NcclCollectives(const NcclLibrary& nccl, Communicator& ranks, const NcclId& id, int device)
      : rank_(nccl, ranks.size(), id, ranks.rank(), device) {}

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
  // A rank that does not come keeps the others waiting in ncclCommInitRank: all agree before.
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

}  // namespace sextant
