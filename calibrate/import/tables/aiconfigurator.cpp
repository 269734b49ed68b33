#include "calibrate/import/tables/aiconfigurator.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "calibrate/import/records/measured_generation.h"
#include "core/csv.h"
#include "core/json_value.h"

namespace sextant {
namespace {

constexpr const char* kSource =
    "aiconfigurator, github.com/ai-dynamo/aiconfigurator @095f58a51c4ca8e61b66ec108d86f223f8d559ce, "
    "aic-core/src/aiconfigurator_core/systems/silicon_sample.csv";

constexpr int kMaxGpusOfWorker = 8;  // a node; more are several workers or a whole deployment

// In the order of kBackends.
constexpr std::array<const char*, 3> kFrameworks{"vllm", "sglang", "tensorrt-llm"};
constexpr std::array<std::string_view, 3> kBackends{"vllm", "sglang", "trtllm"};

bool is_blank(const CsvRow& row, std::string_view column) {
  return !row.has_column(column) || row.is_empty(column);
}

// ---- parallel sizes ----

// attention tp x attention dp GPUs, the same that moe tp x moe ep are.
struct Sizes {
  int tp = 1;
  int dp = 1;
  int moe_tp = 1;
  int moe_ep = 1;

  [[nodiscard]] int gpus() const { return tp * dp; }
};

// Blank and 0 mean 1.
int size_in(const CsvRow& row, std::string_view column) {
  return std::max(1, row.optional_count(column).value_or(1));
}

Sizes recorded_sizes(const CsvRow& row) {
  return {size_in(row, "tp"), size_in(row, "attention_dp"), size_in(row, "moe_tp"), size_in(row, "moe_ep")};
}

// tp N with ep N is recorded as N x N in one of two ways, in tp or in attention_dp; other rows have the same
// measurement with the sizes as they are (README). A label that names the product contradicts that.
Sizes without_product(const Sizes& sizes, int label_tp) {
  const int n = sizes.moe_tp;
  const bool is_square = n > 1 && sizes.moe_ep == n && sizes.gpus() == n * n && label_tp != sizes.gpus();
  if (is_square && sizes.dp == 1) return {n, 1, 1, n};
  if (is_square && sizes.tp == 1) return {1, n, 1, n};
  if (sizes.dp > 1 && sizes.tp == sizes.dp && n == 1 && sizes.moe_ep == sizes.gpus()) {
    return {sizes.tp, 1, 1, sizes.tp};
  }
  return sizes;
}

// With which the benchmark's script started the server, where it is known; else what the record says.
Sizes sizes_of(const CsvRow& row, bool has_experts) {
  Sizes sizes;
  if (!is_blank(row, "launched_tp")) {
    sizes = {row.count("launched_tp", 1), row.count("launched_attention_dp", 1),
             row.count("launched_moe_tp", 1), row.count("launched_moe_ep", 1)};
  } else {
    sizes = without_product(recorded_sizes(row), size_in(row, "label_tp"));
  }
  if (!has_experts) sizes.moe_tp = sizes.moe_ep = 1;  // without meaning
  return sizes;
}

// ---- what makes a row useless ----

double decode_s(const CsvRow& row) { return (row.count("output_tokens", 1) - 1) * row.positive("tpot_s"); }

// Empty where the row states what no assumption can replace, and does not contradict itself.
std::string what_lacks(const CsvRow& row) {
  constexpr std::array<std::string_view, 2> kModes{"aggregated", "disaggregated"};
  if (row.one_of("serving_mode", {kModes.begin(), kModes.end()}) == 1) {
    return "disaggregated: prefill and decode on GPUs of their own";
  }
  if (!row.is_empty("work_in_progress") && row.flag("work_in_progress"))
    return "the source marks it unfinished";
  if (row.is_empty("precision")) return "the precision is not stated";
  if (row.is_empty("concurrency")) return "the concurrency is not stated";
  if (!is_blank(row, "speculative_decoding")) {
    return "speculative decoding (" + row.text("speculative_decoding") + "): a step gives more than one token";
  }
  // The batch of a worker, or of one of its attention replicas.
  const int in_batch = row.count("batch_size", 1) * size_in(row, "attention_dp");
  if (std::abs(in_batch - row.count("concurrency", 1)) > 1) {
    return "batch size x attention data parallelism is not the concurrency";
  }
  if (row.positive("ttft_s") > decode_s(row)) {
    return "overloaded: requests wait longer than they decode, and how many the server ran at once is not "
           "stated";
  }
  return "";
}

std::string contradiction(const CsvRow& row, const Sizes& sizes, bool has_experts) {
  if (row.count("pp", 1) > 1) return "pipeline parallelism, whose placement is not stated";
  if (sizes.gpus() > kMaxGpusOfWorker)
    return "parallel sizes of more GPUs than one worker has: a whole deployment";
  if (has_experts && sizes.moe_tp * sizes.moe_ep != sizes.gpus()) {
    return "parallel sizes of attention and of experts make up different numbers of GPUs";
  }
  return "";
}

// ---- rows that are of use ----

double mean_tokens(const CsvRow& row, const std::string& column) {
  return is_blank(row, column + "_mean") ? row.count(column, 1) : row.positive(column + "_mean");
}

void set_layout(MeasuredGeneration& generation, const Sizes& sizes) {
  generation.degrees.tensor_parallel = sizes.tp;
  generation.degrees.data_parallel = sizes.dp;
  generation.execution.expert_parallel = sizes.moe_ep;
  generation.execution.expert_tensor_parallel = sizes.moe_ep > 1 ? sizes.moe_tp : 0;
}

void set_engine(MeasuredGeneration& generation, const CsvRow& row) {
  const std::string& precision = row.text("precision");
  const std::optional<NumberFormat> format = find_number_format(precision);
  if (!format) row.fail("precision", "unknown number format \"" + precision + "\"");
  set_number_format(generation, *format);
  if (!is_blank(row, "cache_precision")) {
    const std::optional<NumberFormat> cache = find_number_format(row.text("cache_precision"));
    if (!cache) row.fail("cache_precision", "unknown number format");
    generation.execution.cache_precision = cache->stored;
  }
  set_serving(generation,
              is_blank(row, "prefill_tokens") ? kUsualPrefillTokens : row.count("prefill_tokens", 1));
}

// Rows of one author of settings form a group. InferenceX has a script for each model, format, GPU and engine,
// known by name or not; the other dumps are files of one engine, GPU and model each.
std::string group_of(const CsvRow& row) {
  if (!is_blank(row, "launch_script")) return "InferenceX, " + row.text("launch_script");
  if (!is_blank(row, "source_dump") && row.text("source_dump").starts_with("gap-analysis/")) {
    return "aiconfigurator, " + row.text("source_dump");
  }
  return "InferenceX, " + row.text("model") + " " + row.text("precision") + " on " + row.text("gpu_type") +
         " by " + row.text("backend");
}

// How many sequences decode together is stated: the batch is the concurrency. No row has the share of memory.
void set_unstated(MeasuredGeneration& generation, const CsvRow& row) {
  leave_unstated(generation, UnstatedQuantity::memory_share, group_of(row));
  if (is_blank(row, "prefill_tokens")) {
    leave_unstated(generation, UnstatedQuantity::prefill_chunk_tokens, group_of(row));
  }
}

std::string left_unsaid(const CsvRow& row) {
  std::string out =
      "which average the times are, GPU clocks, spread, share of the memory for weights and KV cache (" +
      Json(kUsualMemoryFraction).dump() + " to begin with)";
  if (is_blank(row, "prefill_tokens")) {
    out += ", prefill chunks (" + std::to_string(kUsualPrefillTokens) + " tokens to begin with)";
  }
  if (is_blank(row, "launch_script")) {
    out += ", speculative decoding, prefix caching, precision of the KV cache (16 bits taken)";
  } else if (is_blank(row, "cache_precision")) {
    out += ", precision of the KV cache (the engine's choice; 16 bits taken)";
  }
  return out;
}

void add_notes(MeasuredGeneration& generation, const CsvRow& row) {
  generation.notes["source"] = kSource;
  generation.notes["model of the record"] = row.text("model");
  generation.notes["engine"] = row.text("backend") + " " + row.any_text("backend_version");
  generation.notes["measured"] = row.any_text("measured_date");
  if (!is_blank(row, "launch_script")) {
    generation.notes["launched by"] = "InferenceX, " + row.text("launch_script");
  }
  generation.notes["left unsaid"] = left_unsaid(row);
}

MeasuredGeneration generation_of(const CsvRow& row, const Gpu& gpu, const Model& model, const Sizes& sizes) {
  MeasuredGeneration generation;
  generation.name = row.text("record_id");
  generation.framework = kFrameworks.at(row.one_of("backend", {kBackends.begin(), kBackends.end()}));
  if (generation.framework == kFrameworks.front()) generation.execution.semantics = "vllm";
  generation.gpu = gpu;
  generation.model = model;
  set_layout(generation, sizes);
  set_engine(generation, row);
  set_unstated(generation, row);
  generation.sequences = row.count("concurrency", 1);
  generation.prompt_tokens = mean_tokens(row, "input_tokens");
  generation.response_tokens = mean_tokens(row, "output_tokens");
  generation.batch_s = row.positive("ttft_s") + (generation.response_tokens - 1) * row.positive("tpot_s");
  add_notes(generation, row);
  return generation;
}

class Reader {
 public:
  Reader(Imported& imported, const Facts& facts) : imported_(imported), facts_(facts) {}

  void read(const CsvRow& row) {
    if (const std::string reason = reason_against(row); !reason.empty()) {
      imported_.left_out.push_back({row.text("record_id"), reason});
      return;
    }
    const Model& model = facts_.model(row.text("model"));
    const Gpu& gpu = facts_.gpu(row.text("gpu_type"));
    add_measured_generation(imported_,
                            generation_of(row, gpu, model, sizes_of(row, model.experts.has_value())));
  }

 private:
  std::string reason_against(const CsvRow& row) {
    if (std::string reason = what_lacks(row); !reason.empty()) return reason;
    if (!facts_.has_gpu(row.text("gpu_type"))) return facts_.why_no_gpu(row.text("gpu_type"));
    if (!facts_.has_model(row.text("model"))) return facts_.why_no_model(row.text("model"));
    const bool has_experts = facts_.model(row.text("model")).experts.has_value();
    std::string reason = contradiction(row, sizes_of(row, has_experts), has_experts);
    if (!reason.empty()) return reason;
    return measurements_.insert(row.text("measurement_id")).second ? "" : "a measurement that is listed before";
  }

  Imported& imported_;
  const Facts& facts_;
  std::set<std::string> measurements_;
};

}  // namespace

Imported read_aiconfigurator(const std::vector<std::filesystem::path>& files, const Facts& facts) {
  Imported imported;
  for (const std::filesystem::path& file : files) {
    const CsvTable table = load_csv(file);
    table.require_columns(
        {"record_id",     "measurement_id",   "model",        "gpu_type",  "backend",      "backend_version",
         "measured_date", "work_in_progress", "serving_mode", "precision", "input_tokens", "output_tokens",
         "concurrency",   "batch_size",       "tp",           "pp",        "attention_dp", "moe_tp",
         "moe_ep",        "label_tp",         "ttft_s",       "tpot_s"});
    std::vector<CsvRow> rows = table.rows();
    // If a measurement is listed twice, the row whose id names the sizes is more reliable.
    std::stable_sort(rows.begin(), rows.end(), [](const CsvRow& a, const CsvRow& b) {
      return !a.is_empty("label_tp") && b.is_empty("label_tp");
    });
    Reader reader(imported, facts);
    for (const CsvRow& row : rows) reader.read(row);
  }
  return imported;
}

}  // namespace sextant
