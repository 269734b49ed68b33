// GPUs behind a thin interface: their properties, and operations on them that can be timed.
//
// Two implementations, chosen by CMake: CUDA, and none. Tests have their own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "probes/gpu/attention_shape.h"
#include "probes/host/gemm_shapes.h"
#include "sextant/precision.h"

namespace sextant::inline probes {

struct GpuFacts {
  int index = 0;  // CUDA's number in this process
  std::string name;
  std::string bus_id;            // PCI, "0000:0f:00.0"
  double memory_bytes = 0;       // capacity
  double free_memory_bytes = 0;  // at the time of the query
  double last_level_cache_bytes = 0;
  int compute_capability = 0;  // 90 for 9.0
  bool is_ecc_on = false;
};

// Called while the device works on the queue of run_s, so that clocks are read under load; with the host's
// clock right after, because reading them takes as long as many launches.
using WhileRunning = std::function<void()>;

// One operation with its buffers, filled with random data.
class GpuOperation {
 public:
  GpuOperation() = default;
  virtual ~GpuOperation() = default;
  GpuOperation(const GpuOperation&) = delete;
  GpuOperation& operator=(const GpuOperation&) = delete;

  // FLOP or bytes of one execution; 0 if only its time matters.
  [[nodiscard]] virtual double work() const = 0;
  // Executes it `repeats` times in a row and returns the seconds: between two events of the device, with a gate
  // kernel in front that holds the device back until the executions are queued, so that launches are not
  // counted; or by the host's clock if how() says so. Throws Error(machine) with the device's text.
  [[nodiscard]] virtual double run_s(int repeats, const WhileRunning& while_running) = 0;
  // Checks the result of the last execution with an independent computation.
  [[nodiscard]] virtual bool is_right() = 0;
  // Returns the algorithm, the clock, and whether caches are cold or warm.
  [[nodiscard]] virtual std::string how() const { return ""; }
};

// An operation, or the reason why there is none.
struct GpuOperationOrReason {
  std::unique_ptr<GpuOperation> operation;
  std::string reason;
};

// The operations that can be measured.

// A matrix product; work is 2 m n k. With is_cold, enough sets of operands in turn to exceed the last-level cache;
// else the same ones again and again.
struct GpuGemm {
  Precision precision = Precision::fp32;
  GemmShape shape;
  bool is_cold = false;
};

enum class GpuMemoryAccess {
  copy_engine,       // cudaMemcpyAsync within the device
  copy_kernel,       // own kernel, four 16-byte loads in flight per thread
  copy_kernel_deep,  // eight, past the first-level cache
  read,
  read_deep,
  write,
  triad  // a = b + 3 c, in fp32
};

// Buffers have `bytes` each; work is the bytes read and written.
struct GpuMemory {
  GpuMemoryAccess access = GpuMemoryAccess::read;
  std::size_t bytes = 0;
};

// One query token per sequence on a paged KV cache in bf16; work is the bytes of keys and values read.
struct GpuDecode {
  AttentionShape shape;
};

// All tokens of each sequence attend to themselves, causal, in bf16; work is 2 heads head_dim tokens^2 FLOP per
// sequence (half of the full square).
struct GpuPrefill {
  AttentionShape shape;
};

enum class GpuLaunch {
  kernel,             // one empty kernel after another from the host, host clock
  kernel_round_trip,  // launch one and wait for it, host clock
  kernel_on_device,   // one empty kernel after another behind a gate, device clock
  graph,              // one graph after another from the host, host clock
  graph_round_trip,   // launch one graph and wait for it, host clock
};

// Empty kernels; a graph is a chain of `nodes` of them. The work is 0.
struct GpuLaunches {
  GpuLaunch kind = GpuLaunch::kernel;
  int nodes = 1;
};

// Copies between host and device memory, each waited for: host clock.
struct GpuTransfer {
  bool to_device = true;
  bool is_pinned = true;
  std::size_t bytes = 0;
};

enum class GpuPeerWay {
  copy_engine,
  kernel_write,  // a kernel of the sender writes the receiver's memory
  kernel_read    // a kernel of the receiver reads the sender's memory
};

// Copies to another GPU, one after another; work is the bytes that leave, and with both_ways those that come back
// at the same time. A kernel needs GPUs with peer access.
struct GpuPeerCopy {
  int to = 0;
  GpuPeerWay way = GpuPeerWay::copy_engine;
  bool both_ways = false;
  std::size_t bytes = 0;
};

using GpuWork = std::variant<GpuGemm, GpuMemory, GpuDecode, GpuPrefill, GpuLaunches, GpuTransfer, GpuPeerCopy>;

class GpuDevices {
 public:
  GpuDevices() = default;
  virtual ~GpuDevices() = default;
  GpuDevices(const GpuDevices&) = delete;
  GpuDevices& operator=(const GpuDevices&) = delete;

  // Returns why no GPU can be measured ("built without CUDA", the driver's error); empty if there is one.
  [[nodiscard]] virtual std::string absence() const = 0;
  // Returns "driver 13.0, runtime 13.0, cuBLASLt 13.0.2", without missing libraries.
  [[nodiscard]] virtual std::string versions() const = 0;
  [[nodiscard]] virtual std::vector<GpuFacts> list() const = 0;

  [[nodiscard]] virtual GpuOperationOrReason make(int device, const GpuWork& work) = 0;
};

[[nodiscard]] std::unique_ptr<GpuDevices> make_gpu_devices();

}  // namespace sextant::inline probes
