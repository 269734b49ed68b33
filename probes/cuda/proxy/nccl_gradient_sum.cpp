#include "probes/cuda/proxy/nccl_gradient_sum.h"

#include <array>
#include <string>

#include "core/error.h"
#include "probes/cuda/library_search.h"

namespace sextant::gpu {
namespace {

// The part of nccl.h that is used, which has not changed since NCCL 2.10 (bf16); the toolkit does not carry the
// header everywhere.
struct NcclId {
  std::array<char, 128> bytes;
};
using NcclComm = struct NcclCommunicator*;
constexpr int kNcclSum = 0;
constexpr int kNcclBf16 = 9;

struct NcclLibrary {
  int (*get_id)(NcclId*) = nullptr;
  int (*init_rank)(NcclComm*, int ranks, NcclId, int rank) = nullptr;
  int (*destroy)(NcclComm) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int type, int operation, NcclComm, cudaStream_t) = nullptr;
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
    const bool whole = find_function(library, "ncclGetUniqueId", functions.get_id) &&
                       find_function(library, "ncclCommInitRank", functions.init_rank) &&
                       find_function(library, "ncclCommDestroy", functions.destroy) &&
                       find_function(library, "ncclAllReduce", functions.all_reduce) &&
                       find_function(library, "ncclGetErrorString", functions.error_text);
    if (!whole) throw_machine_failed("the NCCL found lacks functions of NCCL 2");
    return functions;
  }();
  return opened;
}

class NcclGradientSum final : public GradientSum {
 public:
  explicit NcclGradientSum(Communicator& replicas) {
    NcclId id{};
    if (replicas.rank() == 0) nccl().check(nccl().get_id(&id), "starting a communicator");
    replicas.broadcast(std::as_writable_bytes(std::span(id.bytes)), 0);
    nccl().check(nccl().init_rank(&communicator_, replicas.size(), id, replicas.rank()),
                 "joining the replicas");
  }
  ~NcclGradientSum() override {
    if (communicator_ != nullptr) static_cast<void>(nccl().destroy(communicator_));
  }
  NcclGradientSum(const NcclGradientSum&) = delete;
  NcclGradientSum& operator=(const NcclGradientSum&) = delete;

  void all_reduce(Bf16* gradients, std::size_t count, cudaStream_t stream) override {
    nccl().check(nccl().all_reduce(gradients, gradients, count, kNcclBf16, kNcclSum, communicator_, stream),
                 "summing gradients");
  }

 private:
  NcclComm communicator_ = nullptr;
};

}  // namespace

std::unique_ptr<GradientSum> make_nccl_gradient_sum(Communicator& replicas) {
  return std::make_unique<NcclGradientSum>(replicas);
}

}  // namespace sextant::gpu
