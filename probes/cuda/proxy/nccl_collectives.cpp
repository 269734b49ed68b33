// NCCL, opened when it is first needed: the program starts without it.
#include <array>
#include <string>

#include "core/error.h"
#include "probes/cuda/library_search.h"
#include "probes/cuda/proxy/gpu_collectives.h"

namespace sextant::gpu {
namespace {

// The part of nccl.h that is used, which has not changed since NCCL 2.10 (bf16); the toolkit does not carry the
// header everywhere.
struct NcclId {
  std::array<char, 128> bytes;
};
using NcclComm = struct NcclCommunicator*;
constexpr int kNcclSum = 0;
constexpr int kNcclByte = 0;
constexpr int kNcclBf16 = 9;

struct NcclLibrary {
  int (*get_version)(int*) = nullptr;
  int (*get_id)(NcclId*) = nullptr;
  int (*init_rank)(NcclComm*, int ranks, NcclId, int rank) = nullptr;
  int (*destroy)(NcclComm) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int type, int operation, NcclComm, cudaStream_t) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int type, NcclComm, cudaStream_t) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int type, int root, NcclComm, cudaStream_t) = nullptr;
  int (*send)(const void*, std::size_t, int type, int to, NcclComm, cudaStream_t) = nullptr;
  int (*receive)(void*, std::size_t, int type, int from, NcclComm, cudaStream_t) = nullptr;
  const char* (*error_text)(int) = nullptr;

  void check(int status, const std::string& doing) const {
    if (status == 0) return;
    throw_machine_failed(std::string("NCCL: ") + error_text(status) + " (while " + doing + ")");
  }
};

const NcclLibrary& nccl() {
  static const NcclLibrary opened = [] {
    std::string reason;
    void* library = open_nvidia_library("NCCL", "libnccl.so.2", reason);
    if (library == nullptr) throw_machine_failed(reason);
    NcclLibrary functions;
    const bool whole = find_function(library, "ncclGetVersion", functions.get_version) &&
                       find_function(library, "ncclGetUniqueId", functions.get_id) &&
                       find_function(library, "ncclCommInitRank", functions.init_rank) &&
                       find_function(library, "ncclCommDestroy", functions.destroy) &&
                       find_function(library, "ncclAllReduce", functions.all_reduce) &&
                       find_function(library, "ncclAllGather", functions.all_gather) &&
                       find_function(library, "ncclBroadcast", functions.broadcast) &&
                       find_function(library, "ncclSend", functions.send) &&
                       find_function(library, "ncclRecv", functions.receive) &&
                       find_function(library, "ncclGetErrorString", functions.error_text);
    if (!whole) throw_machine_failed("the NCCL found lacks functions of NCCL 2.10");
    return functions;
  }();
  return opened;
}

class NcclCollectives final : public GpuCollectives {
 public:
  explicit NcclCollectives(Communicator& ranks) : rank_(ranks.rank()), size_(ranks.size()) {
    NcclId id{};
    if (rank_ == 0) nccl().check(nccl().get_id(&id), "starting a communicator");
    ranks.broadcast(std::as_writable_bytes(std::span(id.bytes)), 0);
    nccl().check(nccl().init_rank(&communicator_, size_, id, rank_), "joining a group of GPUs");
  }
  ~NcclCollectives() override {
    if (communicator_ != nullptr) static_cast<void>(nccl().destroy(communicator_));
  }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void all_reduce_sum(Bf16* values, std::size_t count, cudaStream_t stream) override {
    nccl().check(nccl().all_reduce(values, values, count, kNcclBf16, kNcclSum, communicator_, stream),
                 "summing over GPUs");
  }
  void all_gather(const void* mine, std::size_t bytes, void* all, cudaStream_t stream) override {
    nccl().check(nccl().all_gather(mine, all, bytes, kNcclByte, communicator_, stream), "gathering from GPUs");
  }
  void broadcast(void* data, std::size_t bytes, int root, cudaStream_t stream) override {
    nccl().check(nccl().broadcast(data, data, bytes, kNcclByte, root, communicator_, stream),
                 "broadcasting to GPUs");
  }
  void send(const void* data, std::size_t bytes, int to, cudaStream_t stream) override {
    nccl().check(nccl().send(data, bytes, kNcclByte, to, communicator_, stream), "sending to a GPU");
  }
  void receive(void* data, std::size_t bytes, int from, cudaStream_t stream) override {
    nccl().check(nccl().receive(data, bytes, kNcclByte, from, communicator_, stream), "receiving from a GPU");
  }

 private:
  int rank_;
  int size_;
  NcclComm communicator_ = nullptr;
};

}  // namespace

std::unique_ptr<GpuCollectives> make_gpu_collectives(Communicator& ranks) {
  if (ranks.size() == 1) return nullptr;
  return std::make_unique<NcclCollectives>(ranks);
}

std::string gpu_collectives_version() {
  int version = 0;
  nccl().check(nccl().get_version(&version), "asking for its version");
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace sextant::gpu
