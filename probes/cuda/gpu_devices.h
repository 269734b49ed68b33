// GPUs behind one thin layer: what they are, and operations on them that can be timed.
//
// Two implementations, chosen by CMake: CUDA, and none. Tests bring their own.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "costmodel/vocabulary/precision.h"

namespace sextant {

struct GpuFacts {
  int index = 0;  // as CUDA numbers them here
  std::string name;
  std::string bus_id;            // PCI, "0000:0f:00.0"
  double memory_bytes = 0;       // capacity
  double free_memory_bytes = 0;  // at the time of asking
  double last_level_cache_bytes = 0;
  int compute_capability = 0;  // 90 for 9.0
  bool is_ecc_on = false;
};

// One operation with its buffers, filled with random data.
class GpuOperation {
 public:
  GpuOperation() = default;
  virtual ~GpuOperation() = default;
  GpuOperation(const GpuOperation&) = delete;
  GpuOperation& operator=(const GpuOperation&) = delete;

  // FLOP or bytes of one execution.
  [[nodiscard]] virtual double work() const = 0;
  // Executes it `repeats` times in a row and returns the seconds between two events of the device around them.
  // One more execution goes before the first event, as a gate: while it runs the rest is queued, so that
  // launches are not counted. Throws Error(machine) with the device's own text.
  [[nodiscard]] virtual double run_s(int repeats) = 0;
  // Compares what the last execution left with what it should be, another way.
  [[nodiscard]] virtual bool is_right() = 0;
};

// An operation, or why there is none.
struct GpuOperationOrReason {
  std::unique_ptr<GpuOperation> operation;
  std::string reason;
};

class GpuDevices {
 public:
  GpuDevices() = default;
  virtual ~GpuDevices() = default;
  GpuDevices(const GpuDevices&) = delete;
  GpuDevices& operator=(const GpuDevices&) = delete;

  // Why no GPU can be measured ("built without CUDA", the driver's error); empty when there is one.
  [[nodiscard]] virtual std::string absence() const = 0;
  // "driver 13.0, runtime 13.0, cuBLAS 13.0.2"; what is missing is left out.
  [[nodiscard]] virtual std::string versions() const = 0;
  [[nodiscard]] virtual std::vector<GpuFacts> list() const = 0;

  // C = A B of square matrices; fp32, tf32, bf16 and fp16 are known. Counted as 2 size^3.
  [[nodiscard]] virtual GpuOperationOrReason square_gemm(int device, Precision precision, int size) = 0;
  // From one part of device memory to another; counts bytes read and written.
  [[nodiscard]] virtual GpuOperationOrReason copy(int device, std::size_t bytes) = 0;
  // Reads device memory and reduces it.
  [[nodiscard]] virtual GpuOperationOrReason read(int device, std::size_t bytes) = 0;
};

[[nodiscard]] std::unique_ptr<GpuDevices> make_gpu_devices();

}  // namespace sextant
