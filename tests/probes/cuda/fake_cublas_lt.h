// A cuBLASLt over host memory, with the real one's headers: it is column-major, checks its descriptors as the
// real one does, multiplies, and advances a clock of its own. CUDA's events read that clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "probes/cuda/cublas_lt_library.h"

namespace sextant {

struct FakeAlgorithm {
  double took_s = 1e-3;
  std::size_t workspace_bytes = 0;
  bool is_offered_as_failing = false;  // by its state in the search results
  bool fails_when_run = false;
};

// Its next behaviour, and the recorded calls.
struct FakeCublasLt {
  std::vector<FakeAlgorithm> algorithms{{}};
  cublasStatus_t finding = CUBLAS_STATUS_SUCCESS;
  bool refuses_to_start = false;

  int device = 0;  // the current one
  double now_s = 0;
  int handles = 0;       // started so far
  int open_objects = 0;  // descriptors that were made and not destroyed
  int open_events = 0;
  std::vector<int> runs;  // the algorithm of each product
  std::size_t asked_workspace_bytes = 0;
  std::vector<std::uint32_t> asked_alignments;
  int asked_candidates = 0;
  cublasComputeType_t compute = CUBLAS_COMPUTE_64F;
  cudaDataType_t scale = CUDA_R_64F;
};
// The instance of the whole program; a test begins with a new one.
FakeCublasLt& fake_cublas_lt();

const CublasLtLibrary& fake_cublas_lt_library();

}  // namespace sextant
