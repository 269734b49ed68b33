#include "calibrate/import/published/generation.h"

#include <algorithm>
#include <array>

#include "calibrate/import/records/measured_generation.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant {
namespace {

// How a table was measured.
enum class Kind { prefill, single_sequence, static_batch, saturated, offline, request_throughput };

struct NamedKind {
  std::string_view name;
  Kind kind;
};

constexpr std::array<NamedKind, 7> kKinds{{
    {"prefill", Kind::prefill},
    {"single sequence", Kind::single_sequence},
    {"static batch", Kind::static_batch},
    // Not what it says: the page's commands give gptSessionBenchmark a fixed batch, and caches are not paged.
    {"in-flight batching, saturated", Kind::saturated},
    {"offline throughput", Kind::offline},
    {"offline, all requests at once (unlimited concurrency)", Kind::offline},
    {"request throughput", Kind::request_throughput},
}};

// Properties of an engine that do not depend on its settings.
struct Engine {
  std::string_view prefix;  // of the record's engine; the first that fits
  const char* framework;
  bool batches_continuously = false;
  bool has_cuda_graphs = false;
  bool is_pipelined = false;     // several GPUs have a part of the layers each
  bool is_unfused = false;       // runs the model's code as it is written
  bool shares_experts = false;   // attention data parallel, experts parallel over all GPUs
  bool quantizes_cache = false;  // to eight bits where the weights have no more
  int max_sequences = 0;         // that decode together unless told otherwise; 0: not limited
};

// TensorRT-LLM: max_batch_size is 2048 by default. fp8_kv_cache is among the build options of the pages up to
// 0.9, and in the quantized checkpoints of later ones. enable_attention_dp is among their options for models
// with experts, of which ep_size is not printed. vLLM up to 0.6 is its first engine, TensorRT-LLM up to 0.9
// built engines without CUDA graphs.
constexpr std::array<Engine, 7> kEngines{{
    {.prefix = "vLLM 0.6", .framework = "vllm-0.6", .batches_continuously = true, .has_cuda_graphs = true},
    {.prefix = "SGLang", .framework = "sglang", .batches_continuously = true, .has_cuda_graphs = true},
    {.prefix = "TensorRT-LLM 0.", .framework = "tensorrt-llm-0.9", .quantizes_cache = true},
    {.prefix = "TensorRT-LLM",
     .framework = "tensorrt-llm",
     .batches_continuously = true,
     .has_cuda_graphs = true,
     .shares_experts = true,
     .quantizes_cache = true,
     .max_sequences = 2048},
    {.prefix = "LMDeploy", .framework = "lmdeploy", .batches_continuously = true},
    {.prefix = "HF Transformers", .framework = "transformers", .is_pipelined = true, .is_unfused = true},
    {.prefix = "Megatron Core", .framework = "megatron-core", .batches_continuously = true},
}};

struct Record {
  std::string id;
  std::string page;
  std::string source;
  std::string gpu;
  int gpus = 1;
  std::string model;
  std::string engine_text;
  Engine engine;
  Kind kind = Kind::static_batch;
  NumberFormat format;
  int tensor_parallel = 1;
  int data_parallel = 1;
  std::optional<int> sequences;  // nothing: not stated
  std::optional<double> prompt_tokens;
  std::optional<double> response_tokens;
  std::optional<double> time_s;  // of all sequences
  std::optional<double> output_tokens_per_s;
  std::string grade;
  std::string missing;
  std::string remarks;
};

// ---- reading ----

Kind parse_kind(const JsonView& view) {
  std::vector<std::string_view> names;
  names.reserve(kKinds.size());
  for (const NamedKind& kind : kKinds) names.push_back(kind.name);
  return kKinds.at(view.one_of(names)).kind;
}

Engine parse_engine(const JsonView& view) {
  const std::string name = view.text();
  for (const Engine& engine : kEngines) {
    if (name.starts_with(engine.prefix)) return engine;
  }
  view.fail("unknown engine \"" + name + "\"");
}

NumberFormat parse_format(const JsonView& view) {
  const std::optional<NumberFormat> format = find_number_format(view.text());
  if (!format) view.fail("unknown number format \"" + view.text() + "\"");
  return *format;
}

std::optional<int> optional_count(const JsonView& view, std::string_view member) {
  const std::optional<JsonView> value = view.optional(member);
  return value ? std::optional(value->count(1)) : std::nullopt;
}

std::optional<double> optional_positive(const JsonView& view, std::string_view member) {
  const std::optional<JsonView> value = view.optional(member);
  return value ? std::optional(value->positive()) : std::nullopt;
}

std::optional<int> parse_sequences(const JsonView& config, Kind kind) {
  switch (kind) {
    case Kind::prefill:
    case Kind::single_sequence:
    case Kind::static_batch:
      return config.required("batch").count(1);
    case Kind::saturated:
      return config.required("max_batch").count(1);
    case Kind::offline:
      return optional_count(config, "requests");
    case Kind::request_throughput:
      return std::nullopt;
  }
  return std::nullopt;
}

void parse_config(const JsonView& config, Record& record) {
  config.allow_only({"engine", "precision", "kind", "batch", "max_batch", "requests", "tp", "pp", "dp",
                     "input_tokens", "output_tokens", "cuda_graph", "setting", "variant"});
  record.engine_text = config.required("engine").text();
  record.engine = parse_engine(config.required("engine"));
  record.kind = parse_kind(config.required("kind"));
  record.format = parse_format(config.required("precision"));
  record.tensor_parallel = config.required("tp").count(1);
  record.data_parallel = optional_count(config, "dp").value_or(1);
  record.sequences = parse_sequences(config, record.kind);
  record.prompt_tokens = optional_positive(config, "input_tokens");
  record.response_tokens = optional_positive(config, "output_tokens");
  if (const auto graphs = config.optional("cuda_graph")) record.engine.has_cuda_graphs = graphs->flag();
  if (const auto stages = config.optional("pp"); stages && stages->count(1) > 1) {
    stages->fail("pipeline parallelism is not expected here");
  }
}

void parse_measured(const JsonView& measured, Record& record) {
  measured.allow_only({"output_tokens_per_s", "output_tokens_per_s_per_gpu", "total_tokens_per_s",
                       "requests_per_s", "speed_printed_tokens_per_s", "total_s_derived",
                       "time_per_output_token_ms", "token_latency_s_p50", "latency_ms_mean", "latency_ms_p50",
                       "first_token_ms", "first_token_s_mean", "first_token_s_min", "first_token_s_max",
                       "memory_gb", "memory_mb"});
  record.output_tokens_per_s = optional_positive(measured, "output_tokens_per_s");
  record.time_s = optional_positive(measured, "total_s_derived");
  if (record.kind == Kind::prefill) {
    constexpr double kMillisecond = 1e-3;
    record.time_s = kMillisecond * measured.required("first_token_ms").positive();
    record.response_tokens = 1;
  }
}

std::string join(const JsonView& texts) {
  std::string out;
  for (const JsonView& text : texts.items()) out += (out.empty() ? "" : ", ") + text.text();
  return out;
}

std::string parse_source(const JsonView& view) {
  view.allow_only({"title", "location", "table_or_section"});
  return view.required("title").text() + ", " + view.required("location").text() + ", " +
         view.required("table_or_section").text();
}

Record parse_record(const JsonView& view) {
  view.allow_only({"id", "source", "hardware", "model", "config", "measured", "notes", "grade", "missing"});
  Record record;
  record.id = view.required("id").text();
  record.source = parse_source(view.required("source"));
  record.page = view.required("source").required("title").text();
  const JsonView hardware = view.required("hardware");
  hardware.allow_only({"gpu", "gpus"});
  record.gpu = hardware.required("gpu").text();
  record.gpus = hardware.required("gpus").count(1);
  record.model = view.required("model").text();
  parse_config(view.required("config"), record);
  parse_measured(view.required("measured"), record);
  record.grade = view.required("grade").text();
  if (const auto missing = view.optional("missing")) record.missing = join(*missing);
  if (const auto notes = view.optional("notes")) record.remarks = notes->text();
  return record;
}

// ---- runs ----

// Empty where the record can be a run.
std::string reason_against(const Record& record, const Facts& facts) {
  if (!record.prompt_tokens || !record.response_tokens) return "the lengths of the requests are not stated";
  if (!record.sequences) return "the number of requests is not stated";
  if (!record.time_s && !record.output_tokens_per_s) return "neither a time nor a throughput is stated";
  if (record.tensor_parallel * record.data_parallel != record.gpus) return "tp x dp is not the number of GPUs";
  if (!facts.has_gpu(record.gpu)) return facts.why_no_gpu(record.gpu);
  if (!facts.has_model(record.model)) return facts.why_no_model(record.model);
  return "";
}

void set_layout(const Record& record, MeasuredGeneration& generation) {
  generation.degrees = {.data_parallel = record.data_parallel, .tensor_parallel = record.tensor_parallel};
  if (record.engine.is_pipelined) {
    generation.degrees = {.pipeline_parallel = record.gpus};
  } else if (record.engine.shares_experts && generation.model.experts && record.gpus > 1) {
    generation.degrees = {.data_parallel = record.gpus};
    generation.execution.expert_parallel = record.gpus;
    generation.execution.expert_tensor_parallel = 1;
  }
}

void set_engine(const Record& record, MeasuredGeneration& generation) {
  generation.framework = record.engine.framework;
  set_number_format(generation, record.format);
  const bool is_quantized = record.format.stored == Precision::fp8 || record.format.stored == Precision::fp4;
  if (record.engine.quantizes_cache && is_quantized) generation.execution.cache_precision = Precision::fp8;
  if (record.engine.batches_continuously) set_serving(generation);
  generation.execution.fused_attention = true;  // all of these engines have it
  generation.execution.cuda_graphs = record.engine.has_cuda_graphs;
  generation.execution.unfused = record.engine.is_unfused;
  generation.decode_batch_sequences = record.engine.max_sequences;
}

// No page prints the share of memory or the prefill chunk. How many sequences decode together is known of a
// batch; of all requests at once the engine takes as many as it may.
void set_unstated(const Record& record, MeasuredGeneration& generation) {
  if (!record.engine.batches_continuously) return;
  const std::string group = record.page + ", " + record.engine_text + " on " + generation.gpu.name;
  leave_unstated(generation, UnstatedQuantity::memory_share, group);
  leave_unstated(generation, UnstatedQuantity::prefill_chunk_tokens, group);
  if (record.kind == Kind::offline) {
    leave_unstated(generation, UnstatedQuantity::decode_batch_sequences, group);
  }
}

void add_notes(const Record& record, MeasuredGeneration& generation) {
  generation.notes["source"] = record.source;
  generation.notes["grade"] = record.grade;
  generation.notes["model of the record"] = record.model;
  generation.notes["engine"] = record.engine_text;
  if (!record.remarks.empty()) generation.notes["remarks"] = record.remarks;
  std::string unsaid = record.missing.empty() ? "spread" : record.missing + ", spread";
  if (record.engine.batches_continuously) {
    unsaid += "; prefill chunks of " + std::to_string(kUsualPrefillTokens) + " tokens and " +
              Json(kUsualMemoryFraction).dump() + " of the memory for weights and KV cache to begin with";
  }
  generation.notes["left unsaid"] = unsaid;
}

MeasuredGeneration generation_of(const Record& record, const Facts& facts) {
  MeasuredGeneration generation;
  generation.name = record.id;
  generation.gpu = facts.gpu(record.gpu);
  generation.model = facts.model(record.model);
  generation.sequences = *record.sequences;
  generation.prompt_tokens = *record.prompt_tokens;
  generation.response_tokens = *record.response_tokens;
  generation.batch_s = record.time_s
                           ? *record.time_s
                           : generation.sequences * generation.response_tokens / *record.output_tokens_per_s;
  set_layout(record, generation);
  set_engine(record, generation);
  set_unstated(record, generation);
  add_notes(record, generation);
  return generation;
}

void add_records(const JsonView& view, const Facts& facts, Imported& imported) {
  view.allow_only({"schema", "about", "count", "records"});
  constexpr std::string_view kSchema = "sextant.published.generation/1";
  if (view.required("schema").text() != kSchema) {
    view.required("schema").fail("expected " + std::string(kSchema));
  }
  const std::vector<JsonView> items = view.required("records").items();
  if (const auto count = view.optional("count"); count && count->json() != items.size()) {
    count->fail("there are " + std::to_string(items.size()) + " records");
  }
  for (const JsonView& item : items) {
    const Record record = parse_record(item);
    if (const std::string reason = reason_against(record, facts); !reason.empty()) {
      imported.left_out.push_back({record.id, reason});
    } else {
      add_measured_generation(imported, generation_of(record, facts));
    }
  }
}

}  // namespace

Imported read_generation(const std::vector<std::filesystem::path>& files, const Facts& facts) {
  Imported imported;
  for (const std::filesystem::path& file : files) {
    const std::string text = read_text_file(file);
    try {
      const Json json = parse_json(text);
      add_records(JsonView(json), facts, imported);
    } catch (const Error& error) {
      throw Error(error.kind(), file.string() + ": " + error.what());
    }
  }
  return imported;
}

}  // namespace sextant
