// The list of points to measure on a GPU, the most important first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/gpu/gpu_devices.h"
#include "sextant/model.h"

namespace sextant::inline probes {

struct GpuPointOptions {
  // The model whose matrix shapes and heads are measured; without one, 32 query and 8 key-value heads of 128.
  std::optional<Model> model;
  int model_tokens = 256;
  int model_tensor_parallel = 1;
  std::vector<Precision> model_precisions = {Precision::bf16};
  // The smallest sizes: a test that all code runs, not a measurement.
  bool is_smoke_test = false;
};

// A sample lasts at least this: several executions of a short operation, so that events and clock steps do not
// matter, and the device's clocks are those of a long run.
struct GpuPoint {
  std::string name;  // "gemm/bf16/8192", "memory/copy/engine", "attention/decode/64x4096", ...
  std::string unit;  // "flop/s", "bytes/s" or "s"
  double min_sample_s = 1e-3;
  GpuWork work;
  std::string why_not;  // the reason why it cannot be measured; empty if it can
};

// In flop/s: "gemm/<precision>/<size>" or "<m>x<n>x<k>", with "_nt" if B is stored transposed, and
//   "gemm/<precision>/<model>/<product>" with operands that are not in the cache;
//   "attention/prefill/<batch>x<tokens>".
// In bytes/s: "memory/copy/engine", "/kernel", "/kernel_deep", "memory/read/plain", "/deep", "memory/write",
//   "memory/triad"; "host/<to|from>_device/<pinned|pageable>"; "attention/decode/<batch>x<tokens>" of KV read.
// In s: "launch/...", and "host/.../latency" for 8 bytes.
// Throws Error(bad_input) if the model has no shapes for this tensor parallelism.
[[nodiscard]] std::vector<GpuPoint> gpu_points(const GpuFacts& gpu, const GpuPointOptions& options);

// "link/<bytes>" in s by the copy engine, from the GPU with the lower index to this one.
[[nodiscard]] std::vector<GpuPoint> gpu_link_points(int to);

// In bytes/s from one GPU to this one: "peer/engine", "peer/kernel_write", "peer/kernel_read"; in s, for 8
// bytes by the kernels: "peer/kernel_.../latency". With both_ways also "peer/.../both_ways", which counts the
// bytes of both directions.
[[nodiscard]] std::vector<GpuPoint> gpu_peer_points(int to, bool both_ways);

// Nodes of the longer of the two graphs that are measured; the other has one.
inline constexpr int kLongGraphNodes = 101;

}  // namespace sextant::inline probes
