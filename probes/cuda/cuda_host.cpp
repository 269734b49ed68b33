#include "probes/cuda/cuda_operations.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "probes/cuda/kernels.h"
#include "probes/cuda/stream_operation.h"
#include "probes/harness/clock.h"
#include "probes/harness/random_data.h"

namespace sextant::inline probes {
namespace {

// A chain of empty kernels, captured once.
class EmptyGraph {
 public:
  EmptyGraph(cudaStream_t stream, int nodes) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a graph");
    for (int node = 0; node < nodes; ++node) gpu::do_nothing(stream);
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(stream, &graph), "capturing a graph");
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    check_cuda(status, "making a graph");
  }
  ~EmptyGraph() { static_cast<void>(cudaGraphExecDestroy(executable_)); }
  EmptyGraph(const EmptyGraph&) = delete;
  EmptyGraph& operator=(const EmptyGraph&) = delete;

  void launch(cudaStream_t stream) { check_cuda(cudaGraphLaunch(executable_, stream), "launching a graph"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

class HostTimedLaunch final : public GpuOperation {
 public:
  HostTimedLaunch(int device, GpuLaunch kind, int nodes) : device_(device), kind_(kind), stream_(device) {
    gpu::do_nothing(stream_.get());  // loads it before it is captured
    stream_.wait();
    if (kind == GpuLaunch::graph || kind == GpuLaunch::graph_round_trip) {
      graph_ = std::make_unique<EmptyGraph>(stream_.get(), nodes);
      graph_->launch(stream_.get());
      stream_.wait();
    }
  }

  [[nodiscard]] double work() const override { return 0; }

  [[nodiscard]] double run_s(int repeats, const WhileRunning& while_running) override {
    check_cuda(cudaSetDevice(device_), "selecting a GPU");
    const bool is_round_trip = kind_ == GpuLaunch::kernel_round_trip || kind_ == GpuLaunch::graph_round_trip;
    const double start_s = steady_clock().now_s();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      if (graph_) {
        graph_->launch(stream_.get());
      } else {
        gpu::do_nothing(stream_.get());
      }
      if (is_round_trip) check_cuda(cudaStreamSynchronize(stream_.get()), "waiting for an empty kernel");
    }
    stream_.wait();
    const double took_s = steady_clock().now_s() - start_s;
    if (while_running) while_running();
    return took_s;
  }

  [[nodiscard]] bool is_right() override { return true; }  // it leaves nothing
  [[nodiscard]] std::string how() const override { return "host clock"; }

 private:
  int device_;
  GpuLaunch kind_;
  TimedStream stream_;
  std::unique_ptr<EmptyGraph> graph_;
};

class DeviceTimedLaunch final : public StreamOperation {
 public:
  using StreamOperation::StreamOperation;
  [[nodiscard]] double work() const override { return 0; }
  [[nodiscard]] bool is_right() override { return true; }  // it leaves nothing
  [[nodiscard]] std::string how() const override { return "device clock, up to 400 launches behind a gate"; }

 protected:
  void enqueue(int /*turn*/) override { gpu::do_nothing(stream()); }
};

class HostBuffer {
 public:
  HostBuffer(std::size_t bytes, bool is_pinned) : is_pinned_(is_pinned) {
    if (is_pinned) {
      check_cuda(cudaHostAlloc(&data_, bytes, cudaHostAllocDefault), "pinning host memory");
    } else {
      data_ = std::malloc(bytes);
      check_cuda(data_ == nullptr ? cudaErrorMemoryAllocation : cudaSuccess, "allocating host memory");
    }
  }
  ~HostBuffer() {
    if (is_pinned_) {
      static_cast<void>(cudaFreeHost(data_));
    } else {
      std::free(data_);
    }
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] unsigned char* bytes() const { return static_cast<unsigned char*>(data_); }

 private:
  bool is_pinned_;
  void* data_ = nullptr;
};

class HostTransfer final : public GpuOperation {
 public:
  HostTransfer(int device, const GpuTransfer& transfer)
      : device_(device),
        transfer_(transfer),
        bytes_(transfer.bytes),
        stream_(device),
        on_host_(transfer.bytes, transfer.is_pinned),
        on_device_(transfer.bytes) {
    fill(1);
    check_cuda(cudaMemcpy(on_device_.data(), on_host_.data(), bytes_, cudaMemcpyHostToDevice),
               "filling memory");
    check_cuda(cudaDeviceSynchronize(), "filling memory");
    if (!transfer_.to_device) fill(2);
  }

  [[nodiscard]] double work() const override { return static_cast<double>(bytes_); }

  [[nodiscard]] double run_s(int repeats, const WhileRunning& while_running) override {
    check_cuda(cudaSetDevice(device_), "selecting a GPU");
    const double start_s = steady_clock().now_s();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      if (transfer_.to_device) {
        check_cuda(
            cudaMemcpyAsync(on_device_.data(), on_host_.data(), bytes_, cudaMemcpyHostToDevice, stream_.get()),
            "copying to the device");
      } else {
        check_cuda(
            cudaMemcpyAsync(on_host_.data(), on_device_.data(), bytes_, cudaMemcpyDeviceToHost, stream_.get()),
            "copying to the host");
      }
      check_cuda(cudaStreamSynchronize(stream_.get()), "waiting for a copy");
    }
    const double took_s = steady_clock().now_s() - start_s;
    if (while_running) while_running();
    return took_s;
  }

  [[nodiscard]] bool is_right() override {
    HostBuffer back(bytes_, false);
    check_cuda(cudaMemcpy(back.data(), on_device_.data(), bytes_, cudaMemcpyDeviceToHost), "reading a copy");
    if (std::memcmp(back.data(), on_host_.data(), bytes_) != 0) return false;
    if (!transfer_.to_device) return true;
    // The data found could be from before: once more with other data.
    fill(3);
    static_cast<void>(run_s(1, {}));
    check_cuda(cudaMemcpy(back.data(), on_device_.data(), bytes_, cudaMemcpyDeviceToHost), "reading a copy");
    return std::memcmp(back.data(), on_host_.data(), bytes_) == 0;
  }

  [[nodiscard]] std::string how() const override {
    return std::string(transfer_.is_pinned ? "pinned" : "pageable") + " host memory, waited for; host clock";
  }

 private:
  void fill(std::uint64_t seed) {
    RandomStream random(seed);
    for (std::size_t at = 0; at < bytes_; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random.next();
      std::memcpy(on_host_.bytes() + at, &word, std::min(sizeof word, bytes_ - at));
    }
  }

  int device_;
  GpuTransfer transfer_;
  std::size_t bytes_;
  TimedStream stream_;
  HostBuffer on_host_;
  DeviceBuffer on_device_;
};

}  // namespace

GpuOperationOrReason make_cuda_operation(int device, const GpuLaunches& work) {
  if (work.kind == GpuLaunch::kernel_on_device) return {std::make_unique<DeviceTimedLaunch>(device), ""};
  return {std::make_unique<HostTimedLaunch>(device, work.kind, work.nodes), ""};
}

GpuOperationOrReason make_cuda_operation(int device, const GpuTransfer& work) {
  return {std::make_unique<HostTransfer>(device, work), ""};
}

}  // namespace sextant::inline probes
