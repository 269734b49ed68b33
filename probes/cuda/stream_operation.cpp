#include "probes/cuda/stream_operation.h"

#include "core/units.h"
#include "probes/cuda/kernels.h"

namespace sextant::inline probes {
namespace {

// The queue of a stream holds about a thousand launches; beyond it the host would wait for the closed gate.
constexpr int kMaxBehindTheGate = 400;
constexpr double kGateBound_s = 20e-3;
// Operands of this many times the cache are not found there again when their turn comes.
constexpr double kTimesTheCacheIsCold = 2;

}  // namespace

Gate::Gate() {
  void* memory = nullptr;
  check_cuda(cudaHostAlloc(&memory, sizeof *is_open_, cudaHostAllocMapped), "allocating a gate");
  is_open_ = static_cast<volatile std::uint32_t*>(memory);
  *is_open_ = 1;
}

Gate::~Gate() {
  *is_open_ = 1;
  static_cast<void>(cudaFreeHost(const_cast<std::uint32_t*>(is_open_)));
}

void Gate::close(cudaStream_t stream) {
  *is_open_ = 0;
  void* seen_by_device = nullptr;
  check_cuda(cudaHostGetDevicePointer(&seen_by_device, const_cast<std::uint32_t*>(is_open_), 0),
             "showing a gate to the device");
  gpu::wait_for_flag(static_cast<std::uint32_t*>(seen_by_device), kGateBound_s, stream);
}

void Gate::open() { *is_open_ = 1; }

double StreamOperation::run_s(int repeats, const WhileRunning& while_running) {
  check_cuda(cudaSetDevice(device_), "selecting a GPU");
  if (!is_warm_) {  // loads kernels, which may wait for the device: not behind a gate
    enqueue(turn_++);
    stream_.wait();
    is_warm_ = true;
  }
  gate_.close(stream_.get());
  try {
    stream_.start();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      if (repeat == kMaxBehindTheGate) gate_.open();
      enqueue(turn_++);
    }
    stream_.mark_stop();
  } catch (...) {
    gate_.open();
    throw;
  }
  gate_.open();
  if (while_running) while_running();
  const double took_s = stream_.elapsed_s();
  check_cuda(cudaGetLastError(), "running a measurement");
  return took_s;
}

std::string cache_text(int device, double bytes) {
  int cache_bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device),
             "asking for the cache's size");
  const bool is_cold = bytes >= kTimesTheCacheIsCold * cache_bytes;
  return std::string(is_cold ? "cold" : "warm") + ": " + format_bytes(bytes) + " in turn against " +
         format_bytes(cache_bytes) + " of cache";
}

}  // namespace sextant::inline probes
