#include "lab/priors/kernel_tables.h"

#include <algorithm>
#include <array>

#include "core/csv.h"

namespace sextant::inline lab {
namespace {

const Gpu& gpu_of(const CsvRow& row, const Facts& facts) {
  const std::string& name = row.text("device");
  if (!facts.has_gpu(name)) row.fail("device", facts.why_no_gpu(name));
  return facts.gpu(name);
}

// Fails unless the facts have this rate for the GPU; for the tables of products, attention and experts.
void check_rate(const CsvRow& row, std::string_view column, const Gpu& gpu, Precision precision) {
  if (gpu.type.flop_per_s.contains(precision)) return;
  row.fail(column, "no rate of " + std::string(name_of(precision)) + " is known of " + gpu.name);
}

struct Format {
  Precision precision;
  bool blockwise;
};

Format format_of(const CsvRow& row, const Gpu& gpu) {
  constexpr std::array<Format, 4> kFormats{
      {{Precision::bf16, false}, {Precision::fp8, false}, {Precision::fp8, true}, {Precision::fp4, false}}};
  const Format format = kFormats[row.one_of("format", {"bf16", "fp8", "fp8_block", "nvfp4"})];
  check_rate(row, "format", gpu, format.precision);
  return format;
}

}  // namespace

double ProductRow::bytes() const { return weight_bytes() + 2 * (m * k + m * n); }

double ExpertRow::touched_bytes() const {
  return std::min(experts, tokens * top_k) * 3 * hidden * columns() * bytes_per_element(Precision::bf16);
}

std::vector<ProductRow> load_products(const std::filesystem::path& file, const Facts& facts) {
  const CsvTable table = load_csv(file);
  table.require_columns({"device", "format", "m", "n", "k", "time_s"});
  std::vector<ProductRow> out;
  for (const CsvRow& row : table.rows()) {
    ProductRow product;
    product.gpu = &gpu_of(row, facts);
    const Format format = format_of(row, *product.gpu);
    product.precision = format.precision;
    product.blockwise = format.blockwise;
    product.m = row.count("m", 1);
    product.n = row.count("n", 1);
    product.k = row.count("k", 1);
    product.time_s = row.positive("time_s");
    out.push_back(product);
  }
  return out;
}

std::vector<AttentionRow> load_attention(const std::filesystem::path& file, const std::string& tokens,
                                         const Facts& facts) {
  const CsvTable table = load_csv(file);
  table.require_columns({"device", "sequences", tokens, "heads", "kv_heads", "head_dim", "time_s"});
  std::vector<AttentionRow> out;
  for (const CsvRow& row : table.rows()) {
    AttentionRow attention;
    attention.gpu = &gpu_of(row, facts);
    check_rate(row, "device", *attention.gpu, Precision::bf16);
    attention.sequences = row.count("sequences", 1);
    attention.tokens = row.count(tokens, 1);
    attention.heads = row.count("heads", 1);
    attention.kv_heads = row.count("kv_heads", 1);
    attention.head_dim = row.count("head_dim", 1);
    attention.time_s = row.positive("time_s");
    out.push_back(attention);
  }
  return out;
}

std::vector<ExpertRow> load_experts(const std::filesystem::path& file, const Facts& facts) {
  const CsvTable table = load_csv(file);
  table.require_columns(
      {"device", "tokens", "hidden", "intermediate", "top_k", "experts", "tp", "distribution", "time_s"});
  std::vector<ExpertRow> out;
  for (const CsvRow& row : table.rows()) {
    ExpertRow experts;
    experts.gpu = &gpu_of(row, facts);
    check_rate(row, "device", *experts.gpu, Precision::bf16);
    experts.tokens = row.count("tokens", 1);
    experts.hidden = row.count("hidden", 1);
    experts.intermediate = row.count("intermediate", 1);
    experts.top_k = row.count("top_k", 1);
    experts.experts = row.count("experts", 1);
    experts.tensor_parallel = row.count("tp", 1);
    experts.is_balanced = row.one_of("distribution", {"balanced", "skewed"}) == 0;
    experts.time_s = row.positive("time_s");
    if (experts.top_k > experts.experts) row.fail("top_k", "expected at most \"experts\"");
    out.push_back(experts);
  }
  return out;
}

std::vector<CollectiveRow> load_collectives(const std::filesystem::path& file, const Facts& facts) {
  const CsvTable table = load_csv(file);
  table.require_columns(
      {"source", "device", "operation", "nodes", "devices", "network_bytes_per_s", "message_bytes", "time_s"});
  std::vector<CollectiveRow> out;
  for (const CsvRow& row : table.rows()) {
    CollectiveRow collective;
    collective.source = row.text("source");
    collective.gpu = &gpu_of(row, facts);
    collective.kind =
        static_cast<MeasuredCollective>(row.one_of("operation", {"all_reduce", "all_to_all", "all_gather"}));
    collective.nodes = row.count("nodes", 1);
    collective.devices = row.count("devices", 2);
    if (collective.devices % collective.nodes != 0) row.fail("devices", "expected a multiple of \"nodes\"");
    if (!row.is_empty("network_bytes_per_s"))
      collective.network_bytes_per_s = row.positive("network_bytes_per_s");
    if (collective.nodes > 1 && !collective.network_bytes_per_s)
      row.fail("network_bytes_per_s", "expected a number, as there are several nodes");
    collective.message_bytes = row.positive("message_bytes");
    collective.time_s = row.positive("time_s");
    out.push_back(collective);
  }
  return out;
}

std::vector<TransferRow> load_transfers(const std::filesystem::path& file, const Facts& facts) {
  const CsvTable table = load_csv(file);
  table.require_columns({"record", "framework", "device", "model", "format", "copies", "links",
                         "link_bytes_per_s", "packed", "time_s"});
  std::vector<TransferRow> out;
  for (const CsvRow& row : table.rows()) {
    TransferRow transfer;
    transfer.record = row.text("record");
    transfer.framework = row.text("framework");
    transfer.device = row.is_empty("device") ? "" : gpu_of(row, facts).name;
    const std::string& model = row.text("model");
    if (!facts.has_model(model)) row.fail("model", facts.why_no_model(model));
    transfer.model = &facts.model(model);
    transfer.precision = row.one_of("format", {"bf16", "fp8"}) == 0 ? Precision::bf16 : Precision::fp8;
    transfer.copies = row.count("copies", 1);
    transfer.links_bytes_per_s = row.count("links", 1) * row.positive("link_bytes_per_s");
    if (!row.is_empty("packed")) transfer.packed = row.flag("packed");
    transfer.time_s = row.positive("time_s");
    out.push_back(transfer);
  }
  return out;
}

}  // namespace sextant::inline lab
