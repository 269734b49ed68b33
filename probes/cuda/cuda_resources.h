// RAII device memory, streams and events, with errors as Error(machine).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace sextant::inline probes {

// Throws "CUDA: <the runtime's text> (while <doing>)" on an error.
void check_cuda(cudaError_t status, const std::string& doing);

class DeviceBuffer {
 public:
  // Memory of all buffers of this process.
  struct Use {
    std::size_t bytes = 0;
    std::size_t peak_bytes = 0;  // since the last reset_peak
  };
  [[nodiscard]] static Use use();
  static void reset_peak();

  explicit DeviceBuffer(std::size_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  [[nodiscard]] void* data() const { return data_; }
  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

// A stream of one device, with two events around the timed part.
class TimedStream {
 public:
  explicit TimedStream(int device);
  ~TimedStream();
  TimedStream(const TimedStream&) = delete;
  TimedStream& operator=(const TimedStream&) = delete;

  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void start();
  // Marks the end of the timed part; elapsed_s waits for it and returns the device's seconds since start.
  void mark_stop();
  [[nodiscard]] double elapsed_s();
  void wait();
  // A counter on the device: zero it, and read it after the stream's work.
  [[nodiscard]] std::uint32_t* zeroed_counter();
  [[nodiscard]] std::uint32_t read_counter();

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  std::uint32_t* counter_ = nullptr;
};

}  // namespace sextant::inline probes
