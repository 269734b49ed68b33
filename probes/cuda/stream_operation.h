// Operations that are queued on a stream and timed by the device behind a gate kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "probes/cuda/cuda_resources.h"
#include "probes/gpu/gpu_devices.h"

namespace sextant::inline probes {

// A kernel that holds a stream back until the host opens it, so that all work behind it is queued by then. It
// opens by itself after 20 ms, so that it cannot block for ever.
class Gate {
 public:
  Gate();
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // It is opened before it is closed again: the stream must be idle.
  void close(cudaStream_t stream);
  void open();

 private:
  volatile std::uint32_t* is_open_ = nullptr;  // in the host's memory, seen by the device
};

class StreamOperation : public GpuOperation {
 public:
  explicit StreamOperation(int device) : device_(device), stream_(device) {}

  [[nodiscard]] double run_s(int repeats, const WhileRunning& while_running) final;

 protected:
  // Queues one execution; `turn` counts them, to select one of several sets of buffers.
  virtual void enqueue(int turn) = 0;

  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] TimedStream& timed_stream() { return stream_; }
  // The set that the last execution used.
  [[nodiscard]] int last_turn() const { return turn_ - 1; }

 private:
  int device_;
  TimedStream stream_;
  Gate gate_;
  int turn_ = 0;
  bool is_warm_ = false;
};

// "device clock, cold: 4 GiB against 50 MiB of cache", or warm.
[[nodiscard]] std::string cache_text(int device, double bytes);

}  // namespace sextant::inline probes
