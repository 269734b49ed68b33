// Attention's kernels and how they are launched, translated to C++ with their tensor cores emulated: every row
// against one in double.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "probes/cuda/attention_kernels.h"
#include "probes/gpu/attention_reference.h"
#include "probes/harness/random_data.h"

namespace sextant::gpu {
namespace {

std::size_t product(int a, int b, int c = 1, int d = 1) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c) *
         static_cast<std::size_t>(d);
}

// bf16 numbers on the device, which ends the program when a kernel leaves them; no numbers where none are
// given.
class Operand {
 public:
  explicit Operand(std::size_t count) {
    void* data = nullptr;
    cudaMalloc(&data, count * sizeof(std::uint16_t));
    data_.reset(static_cast<std::uint16_t*>(data));
  }
  // Between -1 and 1.
  Operand(std::size_t count, std::uint64_t seed) : Operand(count) {
    RandomStream random(seed);
    for (std::size_t at = 0; at < count; ++at) set(at, static_cast<float>(2 * random.uniform() - 1));
  }
  void set(std::size_t at, float value) { data_.get()[at] = __float2bfloat16(value).bits; }
  [[nodiscard]] void* data() const { return data_.get(); }
  [[nodiscard]] Bf16Row row(std::size_t first, int width) const {
    return {data_.get() + first, data_.get() + first + width};
  }

 private:
  struct Free {
    void operator()(std::uint16_t* data) const { cudaFree(data); }
  };
  std::unique_ptr<std::uint16_t, Free> data_;
};

class Decode {
 public:
  explicit Decode(const AttentionShape& shape)
      : shape_(shape),
        pages_(pages_of(shape)),
        query_(product(shape.batch, shape.heads, shape.head_dim), 1),
        keys_(cached(), 2),
        values_(cached(), 3),
        output_(product(shape.batch, shape.heads, shape.head_dim)),
        table_(product(shape.batch, pages_)) {
    std::iota(table_.begin(), table_.end(), 0);
    std::reverse(table_.begin(), table_.end());
    std::swap(table_[0], table_[table_.size() / 2]);
    // Past the end of a sequence its last page holds what would decide everything.
    for (int sequence = 0; sequence < shape.batch; ++sequence) {
      for (int token = shape.tokens; token < pages_ * kTokensPerPage; ++token) spoil(sequence, token);
    }
  }

  // Launches, as the grid of each.
  std::vector<EmulatedShape> run(int splits) {
    std::vector<float> partials(partial_floats(shape_, splits) + 1, NAN);
    partials.back() = 7;
    static_cast<void>(emulated_launches());
    decode_attention({shape_, query_.data(), keys_.data(), values_.data(), table_.data(), partials.data(),
                      output_.data(), splits},
                     nullptr);
    EXPECT_EQ(partials.back(), 7) << "beyond the partial results";
    return emulated_launches();
  }

  [[nodiscard]] int wrong_rows() const {
    int wrong = 0;
    for (int sequence = 0; sequence < shape_.batch; ++sequence) {
      for (int head = 0; head < shape_.heads; ++head) {
        const int kv_head = head / (shape_.heads / shape_.kv_heads);
        const std::size_t row =
            (product(sequence, shape_.heads) + static_cast<std::size_t>(head)) * product(shape_.head_dim, 1);
        const auto want = attention_row(query_.row(row, shape_.head_dim), tokens_of(keys_, sequence, kv_head),
                                        tokens_of(values_, sequence, kv_head), shape_.tokens);
        if (!is_attention_right(output_.row(row, shape_.head_dim), want)) ++wrong;
      }
    }
    return wrong;
  }

 private:
  [[nodiscard]] std::size_t cached() const {
    return product(shape_.batch * pages_, shape_.kv_heads, kTokensPerPage, shape_.head_dim);
  }
  [[nodiscard]] std::size_t place(int sequence, int kv_head, int token) const {
    const int page = table_[product(sequence, pages_) + static_cast<std::size_t>(token / kTokensPerPage)];
    return (product(page, shape_.kv_heads) + static_cast<std::size_t>(kv_head)) *
               product(kTokensPerPage, shape_.head_dim) +
           product(token % kTokensPerPage, shape_.head_dim);
  }
  void spoil(int sequence, int token) {
    for (int kv_head = 0; kv_head < shape_.kv_heads; ++kv_head) {
      const std::size_t first = place(sequence, kv_head, token);
      for (int d = 0; d < shape_.head_dim; ++d) {
        const std::size_t at = first + static_cast<std::size_t>(d);
        keys_.set(at, 1e6F);
        values_.set(at, 1e6F);
      }
    }
  }
  [[nodiscard]] Bf16Row tokens_of(const Operand& cache, int sequence, int kv_head) const {
    Bf16Row all;
    for (int token = 0; token < shape_.tokens; ++token) {
      const Bf16Row one = cache.row(place(sequence, kv_head, token), shape_.head_dim);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  AttentionShape shape_;
  int pages_;
  Operand query_, keys_, values_, output_;
  std::vector<int> table_;
};

// batch, tokens, heads, kv_heads, head_dim: one token, part of a page, pages for some warps of a block only,
// many, and groups of 1 to 16 query heads.
TEST(EmulatedDecode, IsAttentionOfEveryHead) {
  for (const AttentionShape& shape : std::vector<AttentionShape>{{1, 1, 1, 1, 64},
                                                                 {2, 7, 4, 2, 128},
                                                                 {1, 16, 16, 1, 64},
                                                                 {1, 35, 8, 8, 128},
                                                                 {3, 300, 6, 2, 64},
                                                                 {1, 523, 32, 2, 128}}) {
    Decode decode(shape);
    const auto launches = decode.run(1);
    ASSERT_EQ(launches.size(), 1U) << "one split has nothing to combine";
    EXPECT_EQ(launches[0].grid.x, 1U);
    EXPECT_EQ(launches[0].grid.y, static_cast<unsigned>(shape.kv_heads));
    EXPECT_EQ(launches[0].grid.z, static_cast<unsigned>(shape.batch));
    EXPECT_EQ(decode.wrong_rows(), 0) << shape.name() << ", head_dim " << shape.head_dim;
  }
}

// 40 pages: equal shares, a smaller last one, and more splits than shares, where the last ones have nothing.
TEST(EmulatedDecode, SplitsAreCombined) {
  for (const int head_dim : {64, 128}) {
    const AttentionShape shape{2, 637, 4, 2, head_dim};
    for (const int splits : {2, 3, 5, 7, 15}) {
      Decode decode(shape);
      const auto launches = decode.run(splits);
      ASSERT_EQ(launches.size(), 2U);
      EXPECT_EQ(launches[0].grid.x, static_cast<unsigned>(splits));
      EXPECT_EQ(launches[1].grid.x, static_cast<unsigned>(shape.batch * shape.heads));
      EXPECT_EQ(launches[1].threads.x, static_cast<unsigned>(head_dim));
      EXPECT_EQ(decode.wrong_rows(), 0) << splits << " splits, head_dim " << head_dim;
    }
  }
}

TEST(EmulatedDecode, SlotsAreWhatTheDeviceRunsAtOnce) {
  const AttentionShape shape;
  emulated_host() = {132, 3};
  EXPECT_EQ(decode_slots(shape), 396);
  emulated_host().blocks_per_processor = 0;
  EXPECT_EQ(decode_slots(shape), 1);
  emulated_host() = {132, 3, false};
  EXPECT_EQ(decode_slots(shape), 1) << "a device that does not answer";
  emulated_host() = {};
}

class Prefill {
 public:
  explicit Prefill(const AttentionShape& shape)
      : shape_(shape),
        query_(product(shape.batch, shape.tokens, shape.heads, shape.head_dim), 1),
        keys_(product(shape.batch, shape.tokens, shape.kv_heads, shape.head_dim), 2),
        values_(product(shape.batch, shape.tokens, shape.kv_heads, shape.head_dim), 3),
        output_(product(shape.batch, shape.tokens, shape.heads, shape.head_dim)) {}

  EmulatedShape run() {
    static_cast<void>(emulated_launches());
    prefill_attention({shape_, query_.data(), keys_.data(), values_.data(), output_.data()}, nullptr);
    const auto launches = emulated_launches();
    EXPECT_EQ(launches.size(), 1U);
    return launches.empty() ? EmulatedShape{} : launches[0];
  }

  [[nodiscard]] int wrong_rows() const {
    int wrong = 0;
    for (int sequence = 0; sequence < shape_.batch; ++sequence) {
      for (int head = 0; head < shape_.heads; ++head) {
        const int kv_head = head / (shape_.heads / shape_.kv_heads);
        const Bf16Row keys = tokens_of(keys_, sequence, kv_head);
        const Bf16Row values = tokens_of(values_, sequence, kv_head);
        for (int token = 0; token < shape_.tokens; ++token) {
          const std::size_t row = place(sequence, token, head, shape_.heads);
          const auto want = attention_row(query_.row(row, shape_.head_dim), keys, values, token + 1);
          if (!is_attention_right(output_.row(row, shape_.head_dim), want)) ++wrong;
        }
      }
    }
    return wrong;
  }

 private:
  [[nodiscard]] std::size_t place(int sequence, int token, int head, int heads) const {
    return (product(sequence * shape_.tokens + token, heads) + static_cast<std::size_t>(head)) *
           product(shape_.head_dim, 1);
  }
  [[nodiscard]] Bf16Row tokens_of(const Operand& from, int sequence, int kv_head) const {
    Bf16Row all;
    for (int token = 0; token < shape_.tokens; ++token) {
      const Bf16Row one = from.row(place(sequence, token, kv_head, shape_.kv_heads), shape_.head_dim);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  AttentionShape shape_;
  Operand query_, keys_, values_, output_;
};

// One token, a tile less one, a tile, a tile and one more, several tiles with a rest.
TEST(EmulatedPrefill, IsCausalAttentionOfEveryToken) {
  for (const AttentionShape& shape : std::vector<AttentionShape>{{1, 1, 1, 1, 64},
                                                                 {1, 63, 2, 1, 128},
                                                                 {2, 64, 1, 1, 64},
                                                                 {1, 65, 3, 3, 128},
                                                                 {1, 200, 4, 2, 64},
                                                                 {1, 200, 4, 2, 128}}) {
    Prefill prefill(shape);
    const EmulatedShape launch = prefill.run();
    EXPECT_EQ(launch.grid.x, static_cast<unsigned>((shape.tokens + 63) / 64));
    EXPECT_EQ(launch.grid.y, static_cast<unsigned>(shape.heads));
    EXPECT_EQ(launch.grid.z, static_cast<unsigned>(shape.batch));
    EXPECT_EQ(launch.threads.x, 128U);
    // Two stages of keys and values of 64 tokens.
    EXPECT_EQ(launch.shared_bytes, product(2 * 2 * 64, shape.head_dim, 2));
    EXPECT_EQ(prefill.wrong_rows(), 0) << shape.name() << ", head_dim " << shape.head_dim;
  }
}

}  // namespace
}  // namespace sextant::gpu
