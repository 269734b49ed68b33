// Rate of matrix products on one core.
//
// Work is 2 m n k floating point operations. Operands are random in [-1, 1). Some elements of the result are
// compared with products summed in double, outside the timed part.
#pragma once

#include <string>
#include <vector>

#include "probes/harness/probe_context.h"
#include "probes/harness/probe_result.h"
#include "probes/host/blas.h"
#include "sextant/model.h"
#include "sextant/precision.h"

namespace sextant::inline probes {

// Returns "gemm/<precision>/<shape>" in flop/s. Waived if the BLAS has no product of this precision, or if the
// operands need more than the context's memory.
[[nodiscard]] ProbeResult measure_gemm(Precision precision, const GemmShape& shape,
                                       const ProbeContext& context);

// Uses the given function instead of the BLAS's; `half_gemm` may be null.
[[nodiscard]] ProbeResult measure_half_gemm(HalfFormat format, HalfGemm half_gemm, const GemmShape& shape,
                                            const ProbeContext& context);

// Measures square products of several sizes, for the peak.
[[nodiscard]] std::vector<ProbeResult> measure_peak_gemm(Precision precision, const ProbeContext& context);

// Measures the shapes of gemm_shapes_of in fp32. A shape that would take longer than ten budgets at the given
// rate is waived.
[[nodiscard]] std::vector<ProbeResult> measure_model_gemm(const Model& model, int tokens, int tensor_parallel,
                                                          double expected_flop_per_s,
                                                          const ProbeContext& context);

}  // namespace sextant::inline probes
