// Collectives by NCCL, which is opened when it is first needed: the program starts without it.
#include <functional>
#include <span>
#include <string>

#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/proxy/gpu_collectives.h"
#include "probes/gpu/libraries/nccl_communicator.h"
#include "sextant/error.h"

namespace sextant::gpu {
namespace {

const NcclLibrary& nccl() {
  std::string reason;
  const NcclLibrary* library = NcclLibrary::open(reason);
  if (library == nullptr) throw_machine_failed(reason);
  return *library;
}

NcclSeat take_seat(Communicator& ranks) {
  NcclSeat seat{ranks.size(), ranks.rank(), {}};
  if (ranks.rank() == 0) nccl().check(nccl().get_id(&seat.id), "starting a communicator");
  ranks.broadcast(std::as_writable_bytes(std::span(seat.id.bytes)), 0);
  return seat;
}

std::function<void()> select_current_gpu() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the GPU in use");
  return [device] { check_cuda(cudaSetDevice(device), "selecting GPU " + std::to_string(device)); };
}

class NcclCollectives final : public GpuCollectives {
 public:
  explicit NcclCollectives(Communicator& ranks)
      : rank_(ranks.rank()),
        size_(ranks.size()),
        communicator_(nccl(), take_seat(ranks), select_current_gpu()),
        watch_(communicator_) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void all_reduce_sum(Bf16* values, std::size_t count, cudaStream_t stream) override {
    communicator_.use("summing over GPUs", [&](NcclComm comm) {
      return nccl().all_reduce(values, values, count, kNcclBf16, kNcclSum, comm, stream);
    });
  }
  void all_gather(const void* mine, std::size_t bytes, void* all, cudaStream_t stream) override {
    communicator_.use("gathering from GPUs", [&](NcclComm comm) {
      return nccl().all_gather(mine, all, bytes, kNcclInt8, comm, stream);
    });
  }
  void broadcast(void* data, std::size_t bytes, int root, cudaStream_t stream) override {
    communicator_.use("broadcasting to GPUs", [&](NcclComm comm) {
      return nccl().broadcast(data, data, bytes, kNcclInt8, root, comm, stream);
    });
  }
  void send(const void* data, std::size_t bytes, int to, cudaStream_t stream) override {
    communicator_.use("sending to a GPU",
                      [&](NcclComm comm) { return nccl().send(data, bytes, kNcclInt8, to, comm, stream); });
  }
  void receive(void* data, std::size_t bytes, int from, cudaStream_t stream) override {
    communicator_.use("receiving from a GPU", [&](NcclComm comm) {
      return nccl().receive(data, bytes, kNcclInt8, from, comm, stream);
    });
  }

 private:
  int rank_;
  int size_;
  NcclCommunicator communicator_;
  NcclWatch watch_;
};

}  // namespace

std::unique_ptr<GpuCollectives> make_gpu_collectives(Communicator& ranks) {
  if (ranks.size() == 1) return nullptr;
  return std::make_unique<NcclCollectives>(ranks);
}

void check_gpu_collectives() {
  if (const std::string failure = NcclWatch::first_failure(); !failure.empty()) throw_machine_failed(failure);
}

std::string gpu_collectives_version() { return "NCCL " + nccl().version(); }

}  // namespace sextant::gpu
