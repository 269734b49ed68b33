// By NCCL, opened when it is first needed: the program starts without it.
#include <span>
#include <string>

#include "core/error.h"
#include "probes/cuda/nccl_library.h"
#include "probes/cuda/proxy/gpu_collectives.h"

namespace sextant::gpu {
namespace {

const NcclLibrary& nccl() {
  std::string reason;
  const NcclLibrary* library = NcclLibrary::open(reason);
  if (library == nullptr) throw_machine_failed(reason);
  return *library;
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
    nccl().check(nccl().all_gather(mine, all, bytes, kNcclInt8, communicator_, stream), "gathering from GPUs");
  }
  void broadcast(void* data, std::size_t bytes, int root, cudaStream_t stream) override {
    nccl().check(nccl().broadcast(data, data, bytes, kNcclInt8, root, communicator_, stream),
                 "broadcasting to GPUs");
  }
  void send(const void* data, std::size_t bytes, int to, cudaStream_t stream) override {
    nccl().check(nccl().send(data, bytes, kNcclInt8, to, communicator_, stream), "sending to a GPU");
  }
  void receive(void* data, std::size_t bytes, int from, cudaStream_t stream) override {
    nccl().check(nccl().receive(data, bytes, kNcclInt8, from, communicator_, stream), "receiving from a GPU");
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

std::string gpu_collectives_version() { return "NCCL " + nccl().version(); }

}  // namespace sextant::gpu
