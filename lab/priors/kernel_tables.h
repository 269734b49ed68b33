// Rows of the tables in data/public/kernels/, whose README has their columns. Every loader throws
// Error(bad_input) with file, line and column of what it cannot use; a device that data/gpus.json does not know
// is a fault, too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "sextant/model.h"
#include "sextant/precision.h"

namespace sextant {

// m x k times k x n. Pointers to GPUs and models are into the facts.
struct ProductRow {
  const Gpu* gpu = nullptr;
  Precision precision = Precision::bf16;
  bool blockwise = false;  // fp8 with a scale for each block of the weights, not one for all
  double m = 0, n = 0, k = 0;
  double time_s = 0;

  [[nodiscard]] double flop() const { return 2 * m * n * k; }
  // Operands and result; the result, and operands that are not the weights, in 16 bits.
  [[nodiscard]] double bytes() const;
  [[nodiscard]] double weight_bytes() const { return bytes_per_element(precision) * n * k; }
};

// One layer's attention, 16 bits, causal.
struct AttentionRow {
  const Gpu* gpu = nullptr;
  double sequences = 0;
  double tokens = 0;  // new ones of a sequence in prefill; those in the cache in decoding
  double heads = 0, kv_heads = 0, head_dim = 0;
  double time_s = 0;
};

// The routed experts of one layer on one device of a tensor-parallel group, 16 bits, gated.
struct ExpertRow {
  const Gpu* gpu = nullptr;
  double tokens = 0, hidden = 0, intermediate = 0, top_k = 0, experts = 0, tensor_parallel = 1;
  bool is_balanced = false;  // each expert gets as many tokens; else by a power law
  double time_s = 0;

  [[nodiscard]] double columns() const { return intermediate / tensor_parallel; }  // of an expert on a device
  [[nodiscard]] double flop() const { return 6 * tokens * top_k * hidden * columns(); }
  [[nodiscard]] double touched_bytes() const;  // of the experts that balanced tokens are routed to
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
  std::string device;  // empty: of several types, or not stated
  const Model* model = nullptr;
  Precision precision = Precision::bf16;
  double copies = 1;             // of the weights that pass the links
  double links_bytes_per_s = 0;  // all that they pass at once
  std::optional<bool> packed;    // many tensors in one message; nothing: not stated
  double time_s = 0;
};

[[nodiscard]] std::vector<ProductRow> load_products(const std::filesystem::path& file, const Facts& facts);
// tokens: the column that holds them.
[[nodiscard]] std::vector<AttentionRow> load_attention(const std::filesystem::path& file,
                                                       const std::string& tokens, const Facts& facts);
[[nodiscard]] std::vector<ExpertRow> load_experts(const std::filesystem::path& file, const Facts& facts);
[[nodiscard]] std::vector<CollectiveRow> load_collectives(const std::filesystem::path& file,
                                                          const Facts& facts);
[[nodiscard]] std::vector<TransferRow> load_transfers(const std::filesystem::path& file, const Facts& facts);

}  // namespace sextant
