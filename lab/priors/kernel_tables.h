// Rows of the tables in data/public/kernels/, whose README describes their columns. Every loader throws
// Error(bad_input) with file, line and column of an unusable value; a device that data/gpus.json does not list
// is an error, too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "sextant/model.h"
#include "sextant/precision.h"

namespace sextant::inline lab {

// A product of m x k and k x n. Pointers to GPUs and models are into the facts.
struct ProductRow {
  const Gpu* gpu = nullptr;
  Precision precision = Precision::bf16;
  bool blockwise = false;  // fp8 with one scale per block of the weights, not one for all
  double m = 0, n = 0, k = 0;
  double time_s = 0;

  [[nodiscard]] double flop() const { return 2 * m * n * k; }
  // Bytes of operands and result; the result, and operands other than the weights, in 16 bits.
  [[nodiscard]] double bytes() const;
  [[nodiscard]] double weight_bytes() const { return bytes_per_element(precision) * n * k; }
};

// The attention of one layer, 16 bits, causal.
struct AttentionRow {
  const Gpu* gpu = nullptr;
  double sequences = 0;
  double tokens = 0;  // new tokens of a sequence in prefill; cached tokens in decoding
  double heads = 0, kv_heads = 0, head_dim = 0;
  double time_s = 0;
};

// The routed experts of one layer on one device of a tensor-parallel group, 16 bits, gated.
struct ExpertRow {
  const Gpu* gpu = nullptr;
  double tokens = 0, hidden = 0, intermediate = 0, top_k = 0, experts = 0, tensor_parallel = 1;
  bool is_balanced = false;  // each expert gets the same number of tokens; else by a power law
  double time_s = 0;

  [[nodiscard]] double columns() const { return intermediate / tensor_parallel; }  // per expert on a device
  [[nodiscard]] double flop() const { return 6 * tokens * top_k * hidden * columns(); }
  [[nodiscard]] double touched_bytes() const;  // for the experts to which balanced tokens are routed
};

enum class MeasuredCollective { all_reduce, all_to_all, all_gather };

struct CollectiveRow {
  std::string source;
  const Gpu* gpu = nullptr;
  MeasuredCollective kind = MeasuredCollective::all_reduce;
  int nodes = 1;
  int devices = 2;
  std::optional<double> network_bytes_per_s;  // all adapters of a node
  double message_bytes = 0;
  double time_s = 0;
};

struct TransferRow {
  std::string record;
  std::string framework;
  std::string device;  // empty: several types, or not stated
  const Model* model = nullptr;
  Precision precision = Precision::bf16;
  double copies = 1;             // number of copies of the weights that pass the links
  double links_bytes_per_s = 0;  // rate of all links together
  std::optional<bool> packed;    // many tensors in one message; nullopt: not stated
  double time_s = 0;
};

[[nodiscard]] std::vector<ProductRow> load_products(const std::filesystem::path& file, const Facts& facts);
// tokens: the column with the number of tokens.
[[nodiscard]] std::vector<AttentionRow> load_attention(const std::filesystem::path& file,
                                                       const std::string& tokens, const Facts& facts);
[[nodiscard]] std::vector<ExpertRow> load_experts(const std::filesystem::path& file, const Facts& facts);
[[nodiscard]] std::vector<CollectiveRow> load_collectives(const std::filesystem::path& file,
                                                          const Facts& facts);
[[nodiscard]] std::vector<TransferRow> load_transfers(const std::filesystem::path& file, const Facts& facts);

}  // namespace sextant::inline lab
