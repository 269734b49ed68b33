#include "probes/cuda/cuda_operations.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "probes/cuda/attention_kernels.h"
#include "probes/cuda/kernels.h"
#include "probes/cuda/stream_operation.h"
#include "probes/gpu/attention_reference.h"
#include "probes/harness/random_data.h"

namespace sextant::inline probes {
namespace {

constexpr int kCheckedRows = 4;
constexpr std::size_t kBf16Bytes = 2;

std::size_t product(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

class Bf16Buffer {
 public:
  Bf16Buffer(std::size_t count, std::uint64_t seed, cudaStream_t stream) : buffer_(count * kBf16Bytes) {
    gpu::fill_matrix(buffer_.data(), gpu::Element::bf16, count, seed, stream);
  }
  [[nodiscard]] void* data() const { return buffer_.data(); }
  // `rows` rows of `width` elements, `stride` elements apart, from element `first`.
  [[nodiscard]] Bf16Row read(std::size_t first, int rows, int width, std::size_t stride) const {
    Bf16Row out(product(rows, width));
    const std::size_t row_bytes = static_cast<std::size_t>(width) * kBf16Bytes;
    check_cuda(cudaMemcpy2D(out.data(), row_bytes, buffer_.as<std::uint16_t>() + first, stride * kBf16Bytes,
                            row_bytes, static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost),
               "reading rows of a matrix");
    return out;
  }

 private:
  DeviceBuffer buffer_;
};

class CudaDecode final : public StreamOperation {
 public:
  CudaDecode(int device, const AttentionShape& shape)
      : StreamOperation(device),
        device_(device),
        shape_(shape),
        splits_(gpu::choose_splits(shape, gpu::decode_slots(shape))),
        query_(product(shape.batch, shape.heads) * dim(), 1, stream()),
        keys_(cache_elements(), 2, stream()),
        values_(cache_elements(), 3, stream()),
        output_(product(shape.batch, shape.heads) * dim(), 4, stream()),
        table_on_device_(table_entries() * sizeof(int)),
        partials_(gpu::partial_floats(shape, splits_) * sizeof(float)),
        table_(table_entries()) {
    std::iota(table_.begin(), table_.end(), 0);
    RandomStream random(5);
    for (std::size_t at = table_.size(); at > 1; --at) {  // pages of a sequence lie anywhere
      std::swap(table_[at - 1], table_[random.next() % at]);
    }
    check_cuda(
        cudaMemcpy(table_on_device_.data(), table_.data(), table_.size() * sizeof(int), cudaMemcpyHostToDevice),
        "writing a page table");
    timed_stream().wait();
  }

  [[nodiscard]] double work() const override { return shape_.kv_bytes(); }

  [[nodiscard]] bool is_right() override {
    timed_stream().wait();
    RandomStream random(6);
    for (int check = 0; check < kCheckedRows; ++check) {
      const int sequence = random.below(shape_.batch);
      const int head = random.below(shape_.heads);
      const int kv_head = head / (shape_.heads / shape_.kv_heads);
      const std::size_t row = (product(sequence, shape_.heads) + static_cast<std::size_t>(head)) * dim();
      const Bf16Row keys = cached(keys_, sequence, kv_head);
      const Bf16Row values = cached(values_, sequence, kv_head);
      const auto want = attention_row(query_.read(row, 1, shape_.head_dim, dim()), keys, values, shape_.tokens);
      if (!is_attention_right(output_.read(row, 1, shape_.head_dim, dim()), want)) return false;
    }
    return true;
  }

  [[nodiscard]] std::string how() const override {
    return "own kernel on tensor cores, pages of 16 tokens in random order, " + std::to_string(splits_) +
           " splits a sequence; " + std::to_string(shape_.heads) + " query heads, " +
           std::to_string(shape_.kv_heads) + " key-value heads of " + std::to_string(shape_.head_dim) +
           "; device clock; " + cache_text(device_, shape_.kv_bytes());
  }

 protected:
  void enqueue(int /*turn*/) override {
    gpu::decode_attention({shape_, query_.data(), keys_.data(), values_.data(), table_on_device_.as<int>(),
                           partials_.as<float>(), output_.data(), splits_},
                          stream());
  }

 private:
  [[nodiscard]] std::size_t dim() const { return static_cast<std::size_t>(shape_.head_dim); }
  [[nodiscard]] std::size_t table_entries() const { return product(shape_.batch, gpu::pages_of(shape_)); }
  [[nodiscard]] std::size_t head_elements() const { return gpu::kTokensPerPage * dim(); }
  [[nodiscard]] std::size_t cache_elements() const {
    return table_entries() * static_cast<std::size_t>(shape_.kv_heads) * head_elements();
  }

  // [tokens rounded up to pages][head_dim] of one head of one sequence.
  [[nodiscard]] Bf16Row cached(const Bf16Buffer& cache, int sequence, int kv_head) const {
    Bf16Row all;
    const int pages = gpu::pages_of(shape_);
    for (int page = 0; page < pages; ++page) {
      const auto place =
          static_cast<std::size_t>(table_[product(sequence, pages) + static_cast<std::size_t>(page)]);
      const std::size_t first =
          (place * static_cast<std::size_t>(shape_.kv_heads) + static_cast<std::size_t>(kv_head)) *
          head_elements();
      const Bf16Row one = cache.read(first, gpu::kTokensPerPage, shape_.head_dim, dim());
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  int device_;
  AttentionShape shape_;
  int splits_;
  Bf16Buffer query_;
  Bf16Buffer keys_;
  Bf16Buffer values_;
  Bf16Buffer output_;
  DeviceBuffer table_on_device_;
  DeviceBuffer partials_;
  std::vector<int> table_;
};

class CudaPrefill final : public StreamOperation {
 public:
  CudaPrefill(int device, const AttentionShape& shape)
      : StreamOperation(device),
        device_(device),
        shape_(shape),
        query_(tokens() * query_width(), 1, stream()),
        keys_(tokens() * key_width(), 2, stream()),
        values_(tokens() * key_width(), 3, stream()),
        output_(tokens() * query_width(), 4, stream()) {
    timed_stream().wait();
  }

  [[nodiscard]] double work() const override { return shape_.causal_flop(); }

  [[nodiscard]] bool is_right() override {
    timed_stream().wait();
    RandomStream random(7);
    for (int check = 0; check < kCheckedRows; ++check) {
      const int sequence = random.below(shape_.batch);
      const int head = random.below(shape_.heads);
      const int last = check == 0 ? shape_.tokens - 1 : random.below(shape_.tokens);
      const auto kv_head = static_cast<std::size_t>(head / (shape_.heads / shape_.kv_heads));
      const std::size_t start = product(sequence, shape_.tokens);
      const std::size_t row =
          (start + static_cast<std::size_t>(last)) * query_width() + static_cast<std::size_t>(head) * dim();
      const std::size_t first = start * key_width() + kv_head * dim();
      const Bf16Row keys = keys_.read(first, last + 1, shape_.head_dim, key_width());
      const Bf16Row values = values_.read(first, last + 1, shape_.head_dim, key_width());
      const auto want = attention_row(query_.read(row, 1, shape_.head_dim, dim()), keys, values, last + 1);
      if (!is_attention_right(output_.read(row, 1, shape_.head_dim, dim()), want)) return false;
    }
    return true;
  }

  [[nodiscard]] std::string how() const override {
    const double bytes = static_cast<double>(kBf16Bytes * tokens() * 2 * (query_width() + key_width()));
    return "own fused kernel on tensor cores (mma.m16n8k16), causal, half the square counted; " +
           std::to_string(shape_.heads) + " query heads, " + std::to_string(shape_.kv_heads) +
           " key-value heads of " + std::to_string(shape_.head_dim) + "; device clock; " +
           cache_text(device_, bytes);
  }

 protected:
  void enqueue(int /*turn*/) override {
    gpu::prefill_attention({shape_, query_.data(), keys_.data(), values_.data(), output_.data()}, stream());
  }

 private:
  [[nodiscard]] std::size_t dim() const { return static_cast<std::size_t>(shape_.head_dim); }
  [[nodiscard]] std::size_t tokens() const { return product(shape_.batch, shape_.tokens); }
  [[nodiscard]] std::size_t query_width() const { return product(shape_.heads, shape_.head_dim); }
  [[nodiscard]] std::size_t key_width() const { return product(shape_.kv_heads, shape_.head_dim); }

  int device_;
  AttentionShape shape_;
  Bf16Buffer query_;
  Bf16Buffer keys_;
  Bf16Buffer values_;
  Bf16Buffer output_;
};

template <typename Operation>
GpuOperationOrReason make(int device, const AttentionShape& shape, bool is_decode) {
  if (const char* complaint = gpu::attention_complaint(shape, is_decode)) return {nullptr, complaint};
  check_cuda(cudaSetDevice(device), "selecting a GPU");
  return {std::make_unique<Operation>(device, shape), ""};
}

}  // namespace

GpuOperationOrReason make_cuda_operation(int device, const GpuDecode& work) {
  return make<CudaDecode>(device, work.shape, true);
}

GpuOperationOrReason make_cuda_operation(int device, const GpuPrefill& work) {
  return make<CudaPrefill>(device, work.shape, false);
}

}  // namespace sextant::inline probes
