#include "tests/probes/cuda/fake_cublas_lt.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "probes/cuda/cuda_resources.h"
#include "sextant/error.h"

namespace sextant {
namespace {

struct Layout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t leading;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};
struct Operation {
  cublasOperation_t transpose[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
};
struct Preference {
  char unused = 0;
};

FakeCublasLt fake;

template <typename Mine, typename Theirs>
void make(Theirs* to, const Mine& value) {
  *to = reinterpret_cast<Theirs>(new Mine(value));
  ++fake.open_objects;
}
template <typename Mine, typename Theirs>
cublasStatus_t destroy(Theirs object) {
  delete reinterpret_cast<Mine*>(object);
  --fake.open_objects;
  return CUBLAS_STATUS_SUCCESS;
}
template <typename T>
cublasStatus_t take(T& to, const void* from, std::size_t bytes) {
  if (bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

double number(const void* from, std::int64_t at, cudaDataType_t type) {
  switch (type) {
    case CUDA_R_32F:
      return static_cast<double>(static_cast<const float*>(from)[at]);
    case CUDA_R_16BF:
      return static_cast<double>(__bfloat162float(static_cast<const __nv_bfloat16*>(from)[at]));
    case CUDA_R_16F:
      return static_cast<double>(__half2float(static_cast<const __half*>(from)[at]));
    case CUDA_R_8F_E4M3:
      return static_cast<double>(static_cast<float>(static_cast<const __nv_fp8_e4m3*>(from)[at]));
    default:
      throw std::logic_error("a type that no product here has");
  }
}
void store(void* to, std::int64_t at, cudaDataType_t type, double value) {
  const auto single = static_cast<float>(value);
  if (type == CUDA_R_32F) static_cast<float*>(to)[at] = single;
  if (type == CUDA_R_16BF) static_cast<__nv_bfloat16*>(to)[at] = __float2bfloat16(single);
  if (type == CUDA_R_16F) static_cast<__half*>(to)[at] = __float2half(single);
}

// Element (row, column) of op(X).
double element(const void* from, const Layout& x, cublasOperation_t operation, int batch, std::uint64_t row,
               std::uint64_t column) {
  if (operation == CUBLAS_OP_T) std::swap(row, column);
  const auto at = static_cast<std::int64_t>(column) * x.leading + static_cast<std::int64_t>(row);
  return number(from, batch * x.stride + at, x.type);
}
std::uint64_t rows_of(const Layout& x, cublasOperation_t operation) {
  return operation == CUBLAS_OP_T ? x.columns : x.rows;
}
std::uint64_t columns_of(const Layout& x, cublasOperation_t operation) {
  return operation == CUBLAS_OP_T ? x.rows : x.columns;
}

bool do_fit(const Operation& operation, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  const auto [of_a, of_b] = operation.transpose;
  bool fit = rows_of(a, of_a) == d.rows && columns_of(b, of_b) == d.columns &&
             columns_of(a, of_a) == rows_of(b, of_b) && c.rows == d.rows && c.columns == d.columns &&
             a.type == b.type && c.type == d.type;
  for (const Layout* one : {&a, &b, &c, &d}) {
    fit = fit && one->leading >= static_cast<std::int64_t>(one->rows) && one->batch == d.batch;
  }
  return fit;
}

cublasStatus_t multiply(cublasLtHandle_t, cublasLtMatmulDesc_t operation_at, const void* alpha, const void* a,
                        cublasLtMatrixLayout_t a_at, const void* b, cublasLtMatrixLayout_t b_at,
                        const void* beta, const void* c, cublasLtMatrixLayout_t c_at, void* d,
                        cublasLtMatrixLayout_t d_at, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                        std::size_t workspace_bytes, cudaStream_t) {
  const auto& operation = *reinterpret_cast<Operation*>(operation_at);
  const auto& of_a = *reinterpret_cast<Layout*>(a_at);
  const auto& of_b = *reinterpret_cast<Layout*>(b_at);
  const auto& of_c = *reinterpret_cast<Layout*>(c_at);
  const auto& of_d = *reinterpret_cast<Layout*>(d_at);
  const auto chosen = static_cast<std::size_t>(algorithm->data[0]);
  const FakeAlgorithm& how = fake.algorithms.at(chosen);
  fake.runs.push_back(static_cast<int>(chosen));
  fake.now_s += how.took_s;
  if (how.fails_when_run) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (!do_fit(operation, of_a, of_b, of_c, of_d)) return CUBLAS_STATUS_INVALID_VALUE;
  if (workspace_bytes < how.workspace_bytes || (workspace_bytes > 0 && workspace == nullptr)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const double by = static_cast<double>(*static_cast<const float*>(alpha));
  const double kept = static_cast<double>(*static_cast<const float*>(beta));
  const std::uint64_t inner = columns_of(of_a, operation.transpose[0]);
  for (int batch = 0; batch < of_d.batch; ++batch) {
    for (std::uint64_t column = 0; column < of_d.columns; ++column) {
      for (std::uint64_t row = 0; row < of_d.rows; ++row) {
        double sum = 0;
        for (std::uint64_t k = 0; k < inner; ++k) {
          sum += element(a, of_a, operation.transpose[0], batch, row, k) *
                 element(b, of_b, operation.transpose[1], batch, k, column);
        }
        const double before = kept == 0 ? 0 : kept * element(c, of_c, CUBLAS_OP_N, batch, row, column);
        const auto at = static_cast<std::int64_t>(column) * of_d.leading + static_cast<std::int64_t>(row);
        store(d, batch * of_d.stride + at, of_d.type, by * sum + before);
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t find(cublasLtHandle_t, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
                    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                    cublasLtMatmulPreference_t, int wanted, cublasLtMatmulHeuristicResult_t* found,
                    int* count) {
  fake.asked_candidates = wanted;
  if (fake.finding != CUBLAS_STATUS_SUCCESS) return fake.finding;
  if (!do_fit(*reinterpret_cast<Operation*>(operation), *reinterpret_cast<Layout*>(a),
              *reinterpret_cast<Layout*>(b), *reinterpret_cast<Layout*>(c), *reinterpret_cast<Layout*>(d))) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *count = 0;
  for (std::size_t at = 0; at < fake.algorithms.size() && *count < wanted; ++at) {
    const FakeAlgorithm& one = fake.algorithms[at];
    cublasLtMatmulHeuristicResult_t& result = found[(*count)++];
    result = {};
    result.algo.data[0] = at;
    result.workspaceSize = one.workspace_bytes;
    result.state = one.is_offered_as_failing ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// Algorithm 40 + n, tile 20 + n; how many stages none says.
cublasStatus_t describe(const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute,
                        void* to, std::size_t bytes, std::size_t* written) {
  std::int32_t value = static_cast<std::int32_t>(algorithm->data[0]);
  if (attribute == CUBLASLT_ALGO_CONFIG_STAGES_ID || bytes != sizeof value) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute == CUBLASLT_ALGO_CONFIG_ID) value += 40;
  if (attribute == CUBLASLT_ALGO_CONFIG_TILE_ID) value += 20;
  if (attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM) value = 1;
  std::memcpy(to, &value, sizeof value);
  *written = sizeof value;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_layout(cublasLtMatrixLayout_t at, cublasLtMatrixLayoutAttribute_t attribute,
                          const void* from, std::size_t bytes) {
  auto& layout = *reinterpret_cast<Layout*>(at);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return take(layout.batch, from, bytes);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return take(layout.stride, from, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t set_operation(cublasLtMatmulDesc_t at, cublasLtMatmulDescAttributes_t attribute,
                             const void* from, std::size_t bytes) {
  auto& operation = *reinterpret_cast<Operation*>(at);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) return take(operation.transpose[0], from, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSB) return take(operation.transpose[1], from, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t set_preference(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t attribute,
                              const void* from, std::size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
    return take(fake.asked_workspace_bytes, from, bytes);
  }
  return take(fake.asked_alignments.emplace_back(), from, bytes);
}

CublasLtLibrary library() {
  CublasLtLibrary lt;
  lt.create = [](cublasLtHandle_t* handle) {
    if (fake.refuses_to_start) return CUBLAS_STATUS_NOT_INITIALIZED;
    ++fake.handles;
    *handle = reinterpret_cast<cublasLtHandle_t>(&fake);
    return CUBLAS_STATUS_SUCCESS;
  };
  lt.get_version = []() -> std::size_t { return 130002; };
  lt.get_status_string = [](cublasStatus_t status) {
    return status == CUBLAS_STATUS_EXECUTION_FAILED ? "the GPU program failed to execute" : "not supported";
  };
  lt.matmul = multiply;
  lt.create_operation = [](cublasLtMatmulDesc_t* to, cublasComputeType_t compute, cudaDataType_t scale) {
    fake.compute = compute;
    fake.scale = scale;
    make(to, Operation{});
    return CUBLAS_STATUS_SUCCESS;
  };
  lt.destroy_operation = destroy<Operation, cublasLtMatmulDesc_t>;
  lt.set_operation = set_operation;
  lt.create_layout = [](cublasLtMatrixLayout_t* to, cudaDataType_t type, std::uint64_t rows,
                        std::uint64_t columns, std::int64_t leading) {
    make(to, Layout{type, rows, columns, leading});
    return CUBLAS_STATUS_SUCCESS;
  };
  lt.destroy_layout = destroy<Layout, cublasLtMatrixLayout_t>;
  lt.set_layout = set_layout;
  lt.create_preference = [](cublasLtMatmulPreference_t* to) {
    make(to, Preference{});
    return CUBLAS_STATUS_SUCCESS;
  };
  lt.destroy_preference = destroy<Preference, cublasLtMatmulPreference_t>;
  lt.set_preference = set_preference;
  lt.find_algorithms = find;
  lt.get_algorithm = describe;
  return lt;
}

}  // namespace

FakeCublasLt& fake_cublas_lt() { return fake; }

const CublasLtLibrary& fake_cublas_lt_library() {
  static const CublasLtLibrary one = library();
  return one;
}

void probes::check_cuda(cudaError_t status, const std::string& doing) {
  if (status != cudaSuccess) throw_machine_failed(doing);
}

}  // namespace sextant

// The runtime's, as far as a search of algorithms uses it.
cudaError_t cudaGetDevice(int* device) { return *device = sextant::fake.device, cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new double(-1));
  ++sextant::fake.open_events;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<double*>(event);
  --sextant::fake.open_events;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  *reinterpret_cast<double*>(event) = sextant::fake.now_s;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* elapsed_ms, cudaEvent_t start, cudaEvent_t stop) {
  *elapsed_ms =
      static_cast<float>(1e3 * (*reinterpret_cast<double*>(stop) - *reinterpret_cast<double*>(start)));
  return cudaSuccess;
}
