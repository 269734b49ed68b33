#include "probes/cuda/cuda_operations.h"

#include <memory>
#include <vector>

#include "probes/cuda/kernels.h"
#include "probes/cuda/memory_kernels.h"
#include "probes/cuda/stream_operation.h"

namespace sextant::inline probes {
namespace {

void select(int device) { check_cuda(cudaSetDevice(device), "selecting a GPU"); }

bool sees(int device, int other) {
  int can_access = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can_access, device, other), "asking whether two GPUs see each other");
  return can_access != 0;
}

void enable_access(int device, int other) {
  select(device);
  const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
  } else {
    check_cuda(status, "letting two GPUs see each other");
  }
}

// Orders the work of two streams; has no time.
class Mark {
 public:
  explicit Mark(int device) {
    select(device);
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event");
  }
  ~Mark() { static_cast<void>(cudaEventDestroy(event_)); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  // `later` goes on when `earlier` has come here.
  void order(cudaStream_t earlier, cudaStream_t later) {
    check_cuda(cudaEventRecord(event_, earlier), "ordering two streams");
    check_cuda(cudaStreamWaitEvent(later, event_, 0), "ordering two streams");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Bytes on their way from one GPU to another.
class Flow {
 public:
  Flow(int from, int to, GpuPeerWay way, std::size_t bytes, std::uint64_t seed)
      : from_(from), to_(to), way_(way), bytes_(bytes), source_(buffer_on(from)), target_(buffer_on(to)) {
    select(to_);
    check_cuda(cudaMemset(target_.data(), 0, padded_bytes()), "clearing a copy");
    select(from_);
    gpu::fill_words(source_.as<uint4>(), words(), seed, nullptr);
    check_cuda(cudaDeviceSynchronize(), "filling what is copied");
  }

  // The GPU on whose stream the copy is queued: the one that writes or reads.
  [[nodiscard]] static int runs_on(int from, int to, GpuPeerWay way) {
    return way == GpuPeerWay::kernel_read ? to : from;
  }

  void enqueue(cudaStream_t stream) {
    if (way_ == GpuPeerWay::copy_engine) {
      check_cuda(cudaMemcpyPeerAsync(target_.data(), to_, source_.data(), from_, bytes_, stream),
                 "copying from GPU to GPU");
      return;
    }
    select(runs_on(from_, to_, way_));
    gpu::copy_words(source_.as<uint4>(), target_.as<uint4>(), words(), true, stream);
  }

  [[nodiscard]] bool is_right() const {
    std::vector<unsigned char> sent(bytes_);
    std::vector<unsigned char> arrived(bytes_);
    check_cuda(cudaMemcpy(sent.data(), source_.data(), bytes_, cudaMemcpyDefault), "reading a copy");
    check_cuda(cudaMemcpy(arrived.data(), target_.data(), bytes_, cudaMemcpyDefault), "reading a copy");
    return sent == arrived;
  }

 private:
  [[nodiscard]] std::size_t words() const { return (bytes_ + sizeof(uint4) - 1) / sizeof(uint4); }
  [[nodiscard]] std::size_t padded_bytes() const { return words() * sizeof(uint4); }
  [[nodiscard]] DeviceBuffer buffer_on(int device) const {
    select(device);
    return DeviceBuffer(padded_bytes());
  }

  int from_;
  int to_;
  GpuPeerWay way_;
  std::size_t bytes_;
  DeviceBuffer source_;
  DeviceBuffer target_;
};

// The traffic in the opposite direction, on a stream of the other GPU, between two marks of the timed stream.
struct WayBack {
  WayBack(int from, int to, GpuPeerWay way, std::size_t bytes)
      : device(Flow::runs_on(from, to, way)),
        flow(from, to, way, bytes, 2),
        stream(device),
        begin(device == from ? to : from),
        end(device) {}

  int device;
  Flow flow;
  TimedStream stream;
  Mark begin;
  Mark end;
};

class CudaPeerCopy final : public StreamOperation {
 public:
  CudaPeerCopy(int from, const GpuPeerCopy& copy)
      : StreamOperation(Flow::runs_on(from, copy.to, copy.way)),
        device_(Flow::runs_on(from, copy.to, copy.way)),
        way_(copy.way),
        bytes_(copy.bytes),
        is_direct_(sees(from, copy.to) && sees(copy.to, from)),
        flow_(from, copy.to, copy.way, copy.bytes, 1) {
    if (is_direct_) {
      enable_access(from, copy.to);
      enable_access(copy.to, from);
    }
    if (copy.both_ways) back_ = std::make_unique<WayBack>(copy.to, from, copy.way, copy.bytes);
  }

  [[nodiscard]] double work() const override { return static_cast<double>(back_ ? 2 * bytes_ : bytes_); }
  [[nodiscard]] bool is_right() override { return flow_.is_right() && (!back_ || back_->flow.is_right()); }

  [[nodiscard]] std::string how() const override {
    std::string text = "copy engine";
    if (way_ == GpuPeerWay::kernel_write) text = "kernel that writes the other GPU's memory";
    if (way_ == GpuPeerWay::kernel_read) text = "kernel that reads the other GPU's memory";
    text +=
        is_direct_ ? ", directly from GPU to GPU" : ", through host memory: these GPUs do not see each other";
    return text + (back_ ? ", both ways at once" : "") + "; device clock";
  }

 protected:
  void enqueue(int /*turn*/) override {
    if (!back_) {
      flow_.enqueue(stream());
      return;
    }
    back_->begin.order(stream(), back_->stream.get());
    flow_.enqueue(stream());
    back_->flow.enqueue(back_->stream.get());
    back_->end.order(back_->stream.get(), stream());
    select(device_);
  }

 private:
  int device_;
  GpuPeerWay way_;
  std::size_t bytes_;
  bool is_direct_;
  Flow flow_;
  std::unique_ptr<WayBack> back_;
};

}  // namespace

GpuOperationOrReason make_cuda_operation(int device, const GpuPeerCopy& work) {
  if (work.way != GpuPeerWay::copy_engine && !(sees(device, work.to) && sees(work.to, device))) {
    return {nullptr, "these GPUs do not see each other, so no kernel can reach the other's memory"};
  }
  return {std::make_unique<CudaPeerCopy>(device, work), ""};
}

}  // namespace sextant::inline probes
