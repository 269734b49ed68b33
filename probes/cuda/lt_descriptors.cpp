#include "probes/cuda/lt_descriptors.h"

#include <algorithm>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

cudaDataType_t type_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return CUDA_R_32F;
    case Precision::bf16:
      return CUDA_R_16BF;
    case Precision::fp16:
      return CUDA_R_16F;
    case Precision::fp8:
      return CUDA_R_8F_E4M3;
    case Precision::fp64:
    case Precision::fp4:
      break;
  }
  throw_bad_input("cuBLASLt products in " + std::string(name_of(precision)) + " are not supported");
}

std::int64_t leading(std::int64_t given, int columns) { return given == 0 ? columns : given; }

void check_leading(const char* name, std::int64_t given, int columns) {
  if (given != 0 && given < columns) {
    throw_bad_input(std::string("leading dimension of ") + name + " is " + std::to_string(given) +
                    ", less than its " + std::to_string(columns) + " columns");
  }
}

bool is_known_output(const LtMatmulSpec& spec) {
  if (spec.output == Precision::fp32) return true;
  if (spec.precision == Precision::fp8) return spec.output == Precision::bf16;
  const bool is_half = spec.precision == Precision::bf16 || spec.precision == Precision::fp16;
  return is_half && spec.output == spec.precision;
}

cublasComputeType_t compute_of(Precision precision) {
  return precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

}  // namespace

void check_lt_spec(const LtMatmulSpec& spec) {
  if (spec.m < 1 || spec.n < 1 || spec.k < 1 || spec.batch < 1 || spec.candidates < 1) {
    throw_bad_input("a matrix product needs m, n, k, batch and candidates of at least 1");
  }
  static_cast<void>(type_of(spec.precision));
  if (!is_known_output(spec)) {
    throw_bad_input("products of " + std::string(name_of(spec.precision)) + " cannot be stored as " +
                    std::string(name_of(spec.output)));
  }
  check_leading("A", spec.lda, spec.transpose_a ? spec.m : spec.k);
  check_leading("B", spec.ldb, spec.transpose_b ? spec.k : spec.n);
  check_leading("C", spec.ldc, spec.n);
  check_leading("D", spec.ldd, spec.n);
}

LtLayout::LtLayout(const CublasLtLibrary& library, cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                   std::int64_t leading_dimension, int batch, std::int64_t stride)
    : library_(library) {
  library.check(library.create_layout(&layout_, type, static_cast<std::uint64_t>(columns),
                                      static_cast<std::uint64_t>(rows), leading_dimension),
                "describing a matrix");
  if (batch == 1) return;
  const std::int32_t count = batch;
  library.check(library.set_layout(layout_, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                "describing a batch");
  library.check(
      library.set_layout(layout_, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
      "describing a batch");
}

LtLayout::~LtLayout() { static_cast<void>(library_.destroy_layout(layout_)); }

LtDescriptors::LtDescriptors(const CublasLtLibrary& lt, const LtMatmulSpec& spec)
    : library(lt),
      a(lt, type_of(spec.precision), spec.transpose_a ? spec.k : spec.m, spec.transpose_a ? spec.m : spec.k,
        leading(spec.lda, spec.transpose_a ? spec.m : spec.k), spec.batch, spec.stride_a),
      b(lt, type_of(spec.precision), spec.transpose_b ? spec.n : spec.k, spec.transpose_b ? spec.k : spec.n,
        leading(spec.ldb, spec.transpose_b ? spec.k : spec.n), spec.batch, spec.stride_b),
      c(lt, type_of(spec.output), spec.m, spec.n, leading(spec.ldc, spec.n), spec.batch, spec.stride_c),
      d(lt, type_of(spec.output), spec.m, spec.n, leading(spec.ldd, spec.n), spec.batch, spec.stride_d) {
  lt.check(lt.create_operation(&operation, compute_of(spec.precision), CUDA_R_32F), "describing a product");
  // B is the first factor there.
  const cublasOperation_t first = spec.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = spec.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  lt.check(lt.set_operation(operation, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first),
           "describing a product");
  lt.check(lt.set_operation(operation, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second),
           "describing a product");
}

LtDescriptors::~LtDescriptors() { static_cast<void>(library.destroy_operation(operation)); }

std::vector<cublasLtMatmulHeuristicResult_t> LtDescriptors::find(cublasLtHandle_t handle,
                                                                 const LtMatmulSpec& spec) const {
  cublasLtMatmulPreference_t preference = nullptr;
  library.check(library.create_preference(&preference), "asking for algorithms");
  const std::uint64_t workspace = spec.workspace_bytes;
  const auto alignment = static_cast<std::uint32_t>(spec.alignment_bytes);
  static_cast<void>(library.set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                           sizeof workspace));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    static_cast<void>(library.set_preference(preference, attribute, &alignment, sizeof alignment));
  }
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(spec.candidates));
  int count = 0;
  const cublasStatus_t status = library.find_algorithms(handle, operation, b.get(), a.get(), c.get(), d.get(),
                                                        preference, spec.candidates, found.data(), &count);
  static_cast<void>(library.destroy_preference(preference));
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return {};
  library.check(status, "asking for algorithms");
  found.resize(static_cast<std::size_t>(count));
  std::erase_if(found, [](const auto& one) { return one.state != CUBLAS_STATUS_SUCCESS; });
  return found;
}

std::string describe_lt_algorithm(const CublasLtLibrary& library, const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  const auto add = [&](const char* what, cublasLtMatmulAlgoConfigAttributes_t attribute) {
    std::int32_t value = 0;
    std::size_t written = 0;
    if (library.get_algorithm(&algorithm, attribute, &value, sizeof value, &written) != CUBLAS_STATUS_SUCCESS) {
      return;
    }
    text += (text.empty() ? "" : ", ") + std::string(what) + " " + std::to_string(value);
  };
  add("algorithm", CUBLASLT_ALGO_CONFIG_ID);
  add("tile", CUBLASLT_ALGO_CONFIG_TILE_ID);
  add("stages", CUBLASLT_ALGO_CONFIG_STAGES_ID);
  add("split-k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  return text;
}

}  // namespace sextant::inline probes
