#include "probes/cuda/lt_matmul.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/lt_descriptors.h"
#include "probes/gpu/candidate_search.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// One a device for the life of the program: making one allocates device memory.
cublasLtHandle_t handle_of_current_device(const CublasLtLibrary& library) {
  static std::mutex mutex;
  static std::map<std::pair<const CublasLtLibrary*, int>, cublasLtHandle_t> handles;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current GPU");
  const std::lock_guard<std::mutex> lock(mutex);
  cublasLtHandle_t& handle = handles[{&library, device}];
  if (handle == nullptr) library.check(library.create(&handle), "starting cuBLASLt");
  return handle;
}

// Two events that time a stream.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    check_cuda(cudaEventCreate(&start_), "creating an event");
    check_cuda(cudaEventCreate(&stop_), "creating an event");
  }
  ~Stopwatch() {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(stop_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start() { check_cuda(cudaEventRecord(start_, stream_), "recording an event"); }
  [[nodiscard]] double stop_s() {
    check_cuda(cudaEventRecord(stop_, stream_), "recording an event");
    check_cuda(cudaEventSynchronize(stop_), "timing an algorithm of cuBLASLt");
    float elapsed_ms = 0;
    check_cuda(cudaEventElapsedTime(&elapsed_ms, start_, stop_), "reading events");
    return 1e-3 * static_cast<double>(elapsed_ms);
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

class PlannedMatmul final : public LtMatmul {
 public:
  PlannedMatmul(const CublasLtLibrary& library, cublasLtHandle_t handle, const LtMatmulSpec& spec)
      : library_(library),
        handle_(handle),
        descriptors_(library, spec),
        candidates_(descriptors_.find(handle, spec)) {}

  [[nodiscard]] bool has_algorithm() const { return !candidates_.empty(); }

  void execute(const LtOperands& operands, float alpha, float beta, const LtWorkspace& workspace,
               CUstream_st* stream) override {
    if (workspace.bytes < candidates_[chosen_].workspaceSize) {
      throw_bad_input("this matrix product was planned with a workspace of " +
                      std::to_string(candidates_[chosen_].workspaceSize) + " bytes, not " +
                      std::to_string(workspace.bytes));
    }
    library_.check(run(chosen_, operands, alpha, beta, workspace, stream), "multiplying matrices");
  }

  void search(const LtOperands& operands, float alpha, float beta, const LtWorkspace& workspace,
              CUstream_st* stream, double min_s, double budget_s) override {
    Stopwatch watch(stream);
    const TimeCandidate time = [&](std::size_t at, int repeats) -> std::optional<double> {
      bool is_failing = false;
      watch.start();
      for (int repeat = 0; repeat < repeats && !is_failing; ++repeat) {
        is_failing = run(at, operands, alpha, beta, workspace, stream) != CUBLAS_STATUS_SUCCESS;
      }
      const double took_s = watch.stop_s() / repeats;
      return is_failing ? std::nullopt : std::optional(took_s);
    };
    const CandidateChoice choice = find_fastest(candidates_.size(), time, min_s, budget_s);
    if (choice.tried == 0) throw_machine_failed("cuBLASLt: every algorithm tried for a matrix product failed");
    chosen_ = choice.chosen;
    tried_ = choice.tried;
  }

  [[nodiscard]] std::string algorithm() const override {
    std::string text = describe_lt_algorithm(library_, candidates_[chosen_].algo);
    if (tried_ > 0)
      text += "; number " + std::to_string(chosen_ + 1) + " of " + std::to_string(tried_) + " tried";
    return text;
  }

 private:
  [[nodiscard]] cublasStatus_t run(std::size_t candidate, const LtOperands& operands, float alpha, float beta,
                                   const LtWorkspace& workspace, cudaStream_t stream) const {
    const void* c = operands.c == nullptr ? operands.d : operands.c;
    return library_.matmul(handle_, descriptors_.operation, &alpha, operands.b, descriptors_.b.get(),
                           operands.a, descriptors_.a.get(), &beta, c, descriptors_.c.get(), operands.d,
                           descriptors_.d.get(), &candidates_[candidate].algo, workspace.data, workspace.bytes,
                           stream);
  }

  const CublasLtLibrary& library_;
  cublasLtHandle_t handle_;
  LtDescriptors descriptors_;
  std::vector<cublasLtMatmulHeuristicResult_t> candidates_;
  std::size_t chosen_ = 0;
  int tried_ = 0;
};

}  // namespace

LtMatmulOrReason plan_lt_matmul(const LtMatmulSpec& spec) {
  check_lt_spec(spec);
  std::string reason;
  const CublasLtLibrary* library = CublasLtLibrary::open(reason);
  if (library == nullptr) return {nullptr, reason};
  return plan_lt_matmul(*library, spec);
}

LtMatmulOrReason plan_lt_matmul(const CublasLtLibrary& library, const LtMatmulSpec& spec) {
  check_lt_spec(spec);
  auto planned = std::make_unique<PlannedMatmul>(library, handle_of_current_device(library), spec);
  if (planned->has_algorithm()) return {std::move(planned), ""};
  return {nullptr, "cuBLASLt has no algorithm for a product in " + std::string(name_of(spec.precision)) +
                       " of " + std::to_string(spec.m) + " x " + std::to_string(spec.n) + " x " +
                       std::to_string(spec.k) + " on this GPU"};
}

std::string cublas_lt_version() {
  std::string reason;
  const CublasLtLibrary* library = CublasLtLibrary::open(reason);
  if (library == nullptr) return "";
  const std::size_t version = library->get_version();  // 130002 is 13.0.2
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace sextant::inline probes
