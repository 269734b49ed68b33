#include "probes/cuda/cuda_peer.h"

#include <vector>

#include "probes/cuda/kernels.h"
#include "probes/cuda/stream_operation.h"

namespace sextant {
namespace {

class CudaPeerCopy final : public StreamOperation {
 public:
  CudaPeerCopy(int from, int to, std::size_t bytes)
      : StreamOperation(from),
        from_(from),
        to_(to),
        bytes_(bytes),
        source_(buffer_on(from)),
        target_(buffer_on(to)) {
    int can_access = 0;
    check_cuda(cudaDeviceCanAccessPeer(&can_access, from, to), "asking whether two GPUs see each other");
    check_cuda(cudaSetDevice(from), "selecting a GPU");
    is_direct_ = can_access != 0;
    if (is_direct_) {
      const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled) {
        static_cast<void>(cudaGetLastError());
      } else {
        check_cuda(status, "letting two GPUs see each other");
      }
    }
    gpu::fill_words(source_.as<uint4>(), words(), 1, stream());
    timed_stream().wait();
  }

  [[nodiscard]] double work() const override { return static_cast<double>(bytes_); }

  [[nodiscard]] bool is_right() override {
    std::vector<unsigned char> sent(bytes_);
    std::vector<unsigned char> arrived(bytes_);
    check_cuda(cudaMemcpy(sent.data(), source_.data(), bytes_, cudaMemcpyDefault), "reading a copy");
    check_cuda(cudaMemcpy(arrived.data(), target_.data(), bytes_, cudaMemcpyDefault), "reading a copy");
    return sent == arrived;
  }

  [[nodiscard]] std::string how() const override {
    return is_direct_ ? "copy engine, directly from GPU to GPU; device clock"
                      : "copy engine, through host memory: these GPUs do not see each other; device clock";
  }

 protected:
  void enqueue(int /*turn*/) override {
    check_cuda(cudaMemcpyPeerAsync(target_.data(), to_, source_.data(), from_, bytes_, stream()),
               "copying from GPU to GPU");
  }

 private:
  [[nodiscard]] std::size_t words() const { return (bytes_ + sizeof(uint4) - 1) / sizeof(uint4); }
  [[nodiscard]] std::size_t padded_bytes_on(int device) const {
    check_cuda(cudaSetDevice(device), "selecting a GPU");
    return words() * sizeof(uint4);
  }
  [[nodiscard]] DeviceBuffer buffer_on(int device) const { return DeviceBuffer(padded_bytes_on(device)); }

  int from_;
  int to_;
  std::size_t bytes_;
  DeviceBuffer source_;
  DeviceBuffer target_;
  bool is_direct_ = false;
};

}  // namespace

std::unique_ptr<GpuOperation> make_cuda_peer_copy(int from, int to, std::size_t bytes) {
  return std::make_unique<CudaPeerCopy>(from, to, bytes);
}

}  // namespace sextant
