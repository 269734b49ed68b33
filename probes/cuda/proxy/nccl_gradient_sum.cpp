#include "probes/cuda/proxy/nccl_gradient_sum.h"

#include <span>
#include <string>

#include "core/error.h"
#include "probes/cuda/nccl_library.h"

namespace sextant::gpu {
namespace {

const NcclLibrary& nccl() {
  std::string reason;
  const NcclLibrary* library = NcclLibrary::open(reason);
  if (library == nullptr) throw_machine_failed(reason);
  return *library;
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
