// Matrix products with cuBLASLt: planned once, executed with one call.
//
//   D = alpha op(A) op(B) + beta C
//
// Every matrix is row-major: element (i, j) of an [r x c] matrix is at i * ld + j, with ld >= c elements.
//   A is stored [m x k], or [k x m] with transpose_a;
//   B is stored [k x n], or [n x k] with transpose_b (a weight [out x in] applied to rows of tokens);
//   C and D are [m x n].
// Sums are in fp32. No CUDA header is needed to use this: a stream is a cudaStream_t, pointers are of device
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "sextant/precision.h"

struct CUstream_st;  // a cudaStream_t points to it

namespace sextant::inline probes {

struct LtMatmulSpec {
  int m = 1;
  int n = 1;
  int k = 1;
  bool transpose_a = false;
  bool transpose_b = false;
  // 0: packed, the number of columns as stored.
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  std::int64_t ldd = 0;
  // The precision of A and B: fp32, tf32 (stored as fp32), fp16, bf16, or fp8 (e4m3, scale factors 1). fp8
  // needs compute capability 8.9, transpose_b without transpose_a, and n and k divisible by 16.
  Precision precision = Precision::bf16;
  // The precision of C and D: fp32, or for 16-bit operands their own precision, or bf16 for fp8.
  Precision output = Precision::bf16;
  // Number of equal products; the strides are the elements between two of them, unused with batch 1.
  int batch = 1;
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
  std::int64_t stride_d = 0;
  // The minimum workspace of execute(); cuBLASLt is fast with 32 MiB and more on compute capability 9.
  std::size_t workspace_bytes = std::size_t{64} << 20;
  // Every pointer passed to execute() must be a multiple of it.
  int alignment_bytes = 256;
  // Number of algorithms requested, best guess first; more than one only matters to search().
  int candidates = 1;
};

// Device pointers; C is not read when beta is 0 and may be D.
struct LtOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
};

struct LtWorkspace {
  void* data = nullptr;  // for one stream: concurrent products need one workspace each
  std::size_t bytes = 0;
};

// A planned product for one device, the current one at planning. That device must be current.
class LtMatmul {
 public:
  LtMatmul() = default;
  virtual ~LtMatmul() = default;
  LtMatmul(const LtMatmul&) = delete;
  LtMatmul& operator=(const LtMatmul&) = delete;

  // Queues the product on the stream; may be captured in a CUDA graph. Throws Error(machine) with cuBLASLt's
  // text, Error(bad_input) for a workspace smaller than planned.
  virtual void execute(const LtOperands& operands, float alpha, float beta, const LtWorkspace& workspace,
                       CUstream_st* stream) = 0;

  // Times the candidates on these operands in rounds, each for at least `min_s` per round, and keeps the
  // fastest; stops after about `budget_s` seconds. Overwrites D and leaves the stream idle. Must not be called
  // while a graph is captured. A candidate that fails is skipped.
  virtual void search(const LtOperands& operands, float alpha, float beta, const LtWorkspace& workspace,
                      CUstream_st* stream, double min_s = 2e-3, double budget_s = 0.5) = 0;

  // "algorithm 66, tile 20, stages 4, split-k 1; number 3 of 8 tried".
  [[nodiscard]] virtual std::string algorithm() const = 0;
};

struct LtMatmulOrReason {
  std::unique_ptr<LtMatmul> matmul;
  std::string reason;  // "cuBLASLt could not be loaded ...", "cuBLASLt has no algorithm for ..."
};

// Throws Error(bad_input) for invalid sizes, leading dimensions or formats, Error(machine) if the device or the
// library fails.
[[nodiscard]] LtMatmulOrReason plan_lt_matmul(const LtMatmulSpec& spec);

// Returns "13.0.2"; empty if cuBLASLt cannot be loaded.
[[nodiscard]] std::string cublas_lt_version();

}  // namespace sextant::inline probes
