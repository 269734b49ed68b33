#include "probes/cuda/cuda_resources.h"

#include <algorithm>
#include <atomic>

#include "sextant/error.h"

namespace sextant::inline probes {

void check_cuda(cudaError_t status, const std::string& doing) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // or the next operation would be blamed for it
  throw_machine_failed(std::string("CUDA: ") + cudaGetErrorString(status) + " (while " + doing + ")");
}

namespace {

// One thread of a process makes and frees buffers; several would only blur the peak.
std::atomic<std::size_t> bytes_in_use{0};
std::atomic<std::size_t> peak_bytes{0};

}  // namespace

DeviceBuffer::Use DeviceBuffer::use() { return {bytes_in_use, peak_bytes}; }

void DeviceBuffer::reset_peak() { peak_bytes = bytes_in_use.load(); }

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  check_cuda(cudaMalloc(&data_, bytes), "allocating " + std::to_string(bytes) + " bytes of device memory");
  bytes_in_use += bytes;
  peak_bytes = std::max(peak_bytes.load(), bytes_in_use.load());
}

DeviceBuffer::~DeviceBuffer() {
  static_cast<void>(cudaFree(data_));
  bytes_in_use -= bytes_;
}

TimedStream::TimedStream(int device) {
  check_cuda(cudaSetDevice(device), "selecting GPU " + std::to_string(device));
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  check_cuda(cudaEventCreate(&start_), "creating an event");
  check_cuda(cudaEventCreate(&stop_), "creating an event");
  check_cuda(cudaMalloc(reinterpret_cast<void**>(&counter_), sizeof *counter_), "allocating a counter");
}

TimedStream::~TimedStream() {
  static_cast<void>(cudaFree(counter_));
  static_cast<void>(cudaEventDestroy(stop_));
  static_cast<void>(cudaEventDestroy(start_));
  static_cast<void>(cudaStreamDestroy(stream_));
}

void TimedStream::start() { check_cuda(cudaEventRecord(start_, stream_), "recording an event"); }

void TimedStream::mark_stop() { check_cuda(cudaEventRecord(stop_, stream_), "recording an event"); }

double TimedStream::elapsed_s() {
  check_cuda(cudaEventSynchronize(stop_), "running a measurement");
  float elapsed_ms = 0;
  check_cuda(cudaEventElapsedTime(&elapsed_ms, start_, stop_), "reading events");
  return 1e-3 * static_cast<double>(elapsed_ms);
}

void TimedStream::wait() {
  check_cuda(cudaGetLastError(), "starting a kernel");
  check_cuda(cudaStreamSynchronize(stream_), "running a kernel");
}

std::uint32_t* TimedStream::zeroed_counter() {
  check_cuda(cudaMemsetAsync(counter_, 0, sizeof *counter_, stream_), "clearing a counter");
  return counter_;
}

std::uint32_t TimedStream::read_counter() {
  wait();
  std::uint32_t value = 0;
  check_cuda(cudaMemcpy(&value, counter_, sizeof value, cudaMemcpyDeviceToHost), "reading a counter");
  return value;
}

}  // namespace sextant::inline probes
