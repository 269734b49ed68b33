#include "calibrate/import/tables/blis.h"

#include <algorithm>
#include <cmath>

#include "calibrate/import/records/measured_generation.h"
#include "core/csv.h"

namespace sextant {
namespace {

constexpr const char* kSource = "BLIS validation data, github.com/";

// The model's tokenizer made prompts 4 to 5 % longer than requested, according to the runs that counted them.
constexpr double kPromptExcess = 1.045;

double prompt_tokens(const CsvRow& row) {
  if (!row.is_empty("prompt_tokens_mean")) return row.positive("prompt_tokens_mean");
  return kPromptExcess * (row.count("system_prompt_tokens_nominal") + row.count("question_tokens_nominal", 1));
}

std::string run_name(const CsvRow& row) { return row.text("experiment_id") + "/" + row.text("stage"); }

// Empty where the row is a load that the server kept up with.
std::string reason_against(const CsvRow& row, const Facts& facts) {
  if (row.text("stage") == "all") return "a summary of the experiment's load stages";
  if (row.has_column("notes") && !row.is_empty("notes")) return row.text("notes");
  if (row.flag("overloaded")) return "overloaded: queueing, not the model, sets the time";
  if (!facts.has_gpu(row.text("gpu_type"))) return facts.why_no_gpu(row.text("gpu_type"));
  if (!facts.has_model(row.text("model"))) return facts.why_no_model(row.text("model"));
  if (row.count("gpu_count", 1) != row.count("tp", 1) * row.count("dp", 1)) {
    return "tp x dp is not the number of GPUs";
  }
  return "";
}

// The prompts are a small fixed set, sent again and again to a server that caches prefixes: hardly any of a
// prompt passes the layers again. How much is not stated; one prompt for all that are in flight stands for it.
void set_prompts(MeasuredGeneration& generation, const CsvRow& row) {
  generation.prompt_tokens = prompt_tokens(row);
  generation.are_prompts_shared = true;
  generation.notes["prefix caching"] =
      "on; prompts of a small fixed set, so mostly cached; hit rate not stated, one prefill a batch taken";
}

void set_load(MeasuredGeneration& generation, const CsvRow& row) {
  const double rate = row.positive("request_rate_per_s"), e2e_s = row.positive("e2e_mean_s");
  generation.sequences = std::max(1, static_cast<int>(std::lround(rate * e2e_s)));
  generation.batch_s = e2e_s;
  generation.notes["in flight"] =
      "Little's law: request rate (" + row.text("request_rate_source") + ") x mean time in the server, rounded";
}

// Runs of one repository at one commit share what it does not say of the servers.
void set_unstated(MeasuredGeneration& generation, const CsvRow& row) {
  const std::string& source = row.text("source");
  const std::string group = "BLIS, " + source.substr(0, source.find(' ')) + " on " + generation.gpu.name;
  const auto add = [&](const char* column, UnstatedQuantity setting) {
    if (row.is_empty(column)) leave_unstated(generation, setting, group);
  };
  add("max_num_seqs", UnstatedQuantity::decode_batch_sequences);
  add("gpu_memory_utilization", UnstatedQuantity::memory_share);
  add("max_num_batched_tokens", UnstatedQuantity::prefill_chunk_tokens);
}

void set_engine(MeasuredGeneration& generation, const CsvRow& row) {
  const std::optional<NumberFormat> format = find_number_format(row.text("precision"));
  if (!format) row.fail("precision", "unknown number format");
  set_number_format(generation, *format);
  set_serving(generation, row.optional_count("max_num_batched_tokens", 1).value_or(kUsualPrefillTokens),
              row.optional_number("gpu_memory_utilization").value_or(kUsualMemoryFraction));
  generation.execution.semantics = "vllm";
  generation.decode_batch_sequences = row.optional_count("max_num_seqs", 1).value_or(kUsualDecodeSequences);
}

MeasuredGeneration generation_of(const CsvRow& row, const Facts& facts) {
  MeasuredGeneration generation;
  generation.name = run_name(row);
  generation.framework = "vllm";
  generation.gpu = facts.gpu(row.text("gpu_type"));
  generation.model = facts.model(row.text("model"));
  generation.degrees = {.data_parallel = row.count("dp", 1), .tensor_parallel = row.count("tp", 1)};
  generation.response_tokens = row.positive("output_tokens_mean");
  set_engine(generation, row);
  set_unstated(generation, row);
  set_prompts(generation, row);
  set_load(generation, row);
  generation.notes["source"] = kSource + row.text("source");
  generation.notes["engine"] = "vllm 0.15.1";
  generation.notes["left unsaid"] =
      "share of prompts found in the prefix cache, length distribution, spread; dp taken as independent "
      "replicas";
  return generation;
}

}  // namespace

Imported read_blis(const std::vector<std::filesystem::path>& files, const Facts& facts) {
  Imported imported;
  for (const std::filesystem::path& file : files) {
    const CsvTable table = load_csv(file);
    table.require_columns({"experiment_id",
                           "stage",
                           "model",
                           "gpu_type",
                           "gpu_count",
                           "tp",
                           "dp",
                           "precision",
                           "max_num_batched_tokens",
                           "max_num_seqs",
                           "gpu_memory_utilization",
                           "system_prompt_tokens_nominal",
                           "question_tokens_nominal",
                           "prompt_tokens_mean",
                           "output_tokens_mean",
                           "request_rate_per_s",
                           "request_rate_source",
                           "e2e_mean_s",
                           "overloaded",
                           "source"});
    for (const CsvRow& row : table.rows()) {
      if (const std::string reason = reason_against(row, facts); !reason.empty()) {
        imported.left_out.push_back({run_name(row), reason});
      } else {
        add_measured_generation(imported, generation_of(row, facts));
      }
    }
  }
  return imported;
}

}  // namespace sextant
