#include "calibrate/import/published/training.h"

#include <algorithm>
#include <array>

#include "calibrate/import/published/training_sources.h"
#include "calibrate/import/records/measured_step.h"
#include "core/json_value.h"
#include "sextant/document.h"

namespace sextant {
namespace {

constexpr std::string_view kSchema = "sextant.published.training/1";

// The known settings of a record; an unknown one might change its time.
constexpr std::array<std::string_view, 46> kKnobs{"activation_cpu_offload",
                                                  "activation_offload_layers",
                                                  "activation_recompute",
                                                  "adapter_experts",
                                                  "async_tp",
                                                  "attention",
                                                  "compile",
                                                  "cp",
                                                  "cuda_graphs",
                                                  "deterministic",
                                                  "dp",
                                                  "ep",
                                                  "fp8_attention",
                                                  "fsdp",
                                                  "fused_grouped_mlp",
                                                  "global_batch",
                                                  "grad_accumulation",
                                                  "heads",
                                                  "hidden",
                                                  "intermediate",
                                                  "kernels",
                                                  "kv_heads",
                                                  "layers",
                                                  "layers_per_virtual_stage",
                                                  "local_batch",
                                                  "lora_rank",
                                                  "megatron_fsdp",
                                                  "micro_batch",
                                                  "micro_batches",
                                                  "moe_a2a_overlap",
                                                  "moe_dispatcher",
                                                  "mp_mode",
                                                  "nccl_algo",
                                                  "optimizer_sharding",
                                                  "pipeline_interleaving",
                                                  "pp",
                                                  "precision",
                                                  "recompute_modules",
                                                  "schedule",
                                                  "sequence_length",
                                                  "sequence_parallel",
                                                  "strategy",
                                                  "task",
                                                  "tp",
                                                  "vocab",
                                                  "vp"};

// One record, with the parts that every reader of it needs.
struct Record {
  std::string id;
  JsonView json;
  JsonView config;
  JsonView hardware;
  JsonView measured;
};

Record record_of(const JsonView& view) {
  view.allow_only({"id", "source", "hardware", "model", "config", "config_source", "measured", "notes", "grade",
                   "missing", "known_defect"});
  return {view.required("id").text(), view, view.required("config"), view.required("hardware"),
          view.required("measured")};
}

std::string first_word(const std::string& id) { return id.substr(0, id.find('-')); }

int degree(const JsonView& config, std::string_view member) {
  const auto value = config.optional(member);
  return value ? std::max(1, value->count()) : 1;
}

// ---- reasons to leave a record out, empty where there is none ----

std::string unknown_knob(const JsonView& config) {
  for (const auto& [name, value] : config.members()) {
    const bool is_known = std::find(kKnobs.begin(), kKnobs.end(), name) != kKnobs.end();
    if (!is_known) return "its setting \"" + name + "\" is not one that this reader knows";
  }
  return "";
}

bool has_throughput(const JsonView& measured) {
  return measured.optional("step_time_s") || measured.optional("step_time_s_derived") ||
         measured.optional("tokens_per_s_per_gpu");
}

std::string missing_quantity(const Record& record) {
  if (!has_throughput(record.measured))
    return "neither the time of a step nor its throughput in tokens is stated";
  if (!record.config.optional("micro_batch") && !record.config.optional("local_batch")) {
    return "the size of a micro-batch is not stated";
  }
  if (!record.config.optional("precision")) return "the precision is not stated";
  return "";
}

std::string unlike_training(const Record& record) {
  if (const auto defect = record.json.optional("known_defect")) return defect->text();
  const auto deterministic = record.config.optional("deterministic");
  if (deterministic && deterministic->flag()) {
    return "run with deterministic kernels, slower than those of training, which a plan cannot say";
  }
  if (record.json.required("model").text().find("w/ MTP") != std::string::npos) {
    return "trained with a multi-token prediction layer, which the model's shape does not have";
  }
  return "";
}

// ---- the model ----

bool has_shape(const JsonView& config) {
  return config.optional("layers") && config.optional("hidden") && config.optional("heads");
}

// Plain GPT, as Megatron's own tables have it: only they give shapes.
Model shape_of(const std::string& name, const JsonView& config) {
  constexpr int kWidest = 1'000'000;
  constexpr int kVocabulary = 51200;  // of GPT-2, padded, where a table does not say (Narayanan et al. 2021)
  Model model;
  model.name = name;
  model.layers = config.required("layers").count(1);
  model.hidden = static_cast<int>(config.required("hidden").integer(1, kWidest));
  model.heads = config.required("heads").count(1);
  if (model.hidden % model.heads != 0) config.required("heads").fail("expected a divisor of the hidden size");
  model.head_dim = model.hidden / model.heads;
  const auto kv_heads = config.optional("kv_heads");
  const auto intermediate = config.optional("intermediate");
  const auto vocabulary = config.optional("vocab");
  model.kv_heads = kv_heads ? kv_heads->count(1) : model.heads;
  model.intermediate = intermediate ? intermediate->count(1) : 4 * model.hidden;
  model.gated_mlp = false;
  model.vocabulary = vocabulary ? vocabulary->count(1) : kVocabulary;
  model.tied_embeddings = true;  // Megatron's default
  return model;
}

// Without the variant that a table adds in parentheses, where the facts know the name only so.
std::string name_in_facts(const Facts& facts, const std::string& name) {
  const std::string plain = name.substr(0, name.find(" ("));
  return facts.has_model(name) || !facts.has_model(plain) ? name : plain;
}

// A variant that the source describes where the facts have it under that description.
std::string gpu_name(const Facts& facts, const JsonView& hardware) {
  const auto variant = hardware.optional("gpu_variant");
  return variant && facts.has_gpu(variant->text()) ? variant->text() : hardware.required("gpu").text();
}

// ---- the step ----

void set_precision(MeasuredStep& step, const std::string& precision) {
  const auto set_arithmetic = [&step](Precision arithmetic) {
    step.execution.precision = arithmetic;
    step.execution.weight_precision = Precision::bf16;
  };
  step.precision = precision == "FP16" ? Precision::fp16 : Precision::bf16;
  if (precision.starts_with("FP8") || precision.starts_with("MXFP8")) set_arithmetic(Precision::fp8);
  if (precision.starts_with("NVFP4")) set_arithmetic(Precision::fp4);
}

Degrees degrees_of(const Record& record, int gpus) {
  Degrees degrees{.pipeline_parallel = degree(record.config, "pp"),
                  .tensor_parallel = degree(record.config, "tp"),
                  .context_parallel = degree(record.config, "cp")};
  const double of_replica =
      1.0 * degrees.pipeline_parallel * degrees.tensor_parallel * degrees.context_parallel;
  const auto stated = record.config.optional("dp");
  degrees.data_parallel = stated ? stated->count(1) : std::max(1, static_cast<int>(gpus / of_replica));
  return degrees;
}

double step_time_s(const Record& record, const MeasuredStep& step) {
  for (const char* member : {"step_time_s", "step_time_s_derived"}) {
    if (const auto time = record.measured.optional(member)) return time->positive();
  }
  return step.sequences * step.sequence_tokens /
         (record.measured.required("tokens_per_s_per_gpu").positive() * step.gpus);
}

std::optional<double> peak_memory_bytes(const JsonView& measured) {
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  for (const char* member : {"peak_memory_gib", "memory_gib"}) {
    if (const auto memory = measured.optional(member)) return memory->positive() * kGib;
  }
  return std::nullopt;
}

void set_batch(MeasuredStep& step, const Record& record) {
  constexpr int kDefaultTokens = 8192;  // of torchtitan's configurations, the only tables without a length
  const auto tokens = record.config.optional("sequence_length");
  const auto micro_batch = record.config.optional("micro_batch");
  step.sequences = record.config.required("global_batch").count(1);
  step.sequence_tokens = tokens ? tokens->count(1) : kDefaultTokens;
  step.micro_batch_sequences = (micro_batch ? *micro_batch : record.config.required("local_batch")).count(1);
}

void set_adapters(MeasuredStep& step, const JsonView& config) {
  constexpr int kUsualRank = 16;  // the time hardly depends on it
  const auto task = config.optional("task");
  if (!task || task->text().find("lora") == std::string::npos) return;
  const auto rank = config.optional("lora_rank");
  step.execution.lora_rank = rank ? rank->count(1) : kUsualRank;
  if (!rank) step.notes["assumed"] = "LoRA of rank 16";
}

std::string joined(const JsonView& texts) {
  std::string out;
  for (const JsonView& text : texts.items()) out += (out.empty() ? "" : "; ") + text.text();
  return out;
}

void add_notes(MeasuredStep& step, const Record& record) {
  const JsonView source = record.json.required("source");
  step.notes["source"] = source.required("title").text() + ", " + source.required("location").text() + ", " +
                         source.required("table_or_section").text();
  if (const auto settings = record.json.optional("config_source")) step.notes["settings"] = settings->text();
  step.notes["model"] = record.json.required("model").text();
  step.notes["grade"] = record.json.required("grade").text();
  step.notes["precision"] = record.config.required("precision").text();
  if (const auto task = record.config.optional("task")) step.notes["task"] = task->text();
  if (const auto remark = record.json.optional("notes")) step.notes["remark"] = remark->text();
  if (const auto missing = record.json.optional("missing")) step.notes["left unsaid"] = joined(*missing);
}

MeasuredStep step_of(const Record& record, const Model& model, const Gpu& gpu, const TrainingSource& source) {
  MeasuredStep step;
  step.name = record.id;
  step.model = model;
  step.gpu = gpu;
  step.gpus = record.hardware.required("gpus").count(1);
  if (const auto per_node = record.hardware.optional("gpus_per_node")) step.gpus_per_node = per_node->count(1);
  step.degrees = degrees_of(record, step.gpus);
  set_batch(step, record);
  set_precision(step, record.config.required("precision").text());
  set_adapters(step, record.config);
  source.set(step, record.config);
  step.step_s = step_time_s(record, step);
  step.peak_memory_bytes = peak_memory_bytes(record.measured);
  add_notes(step, record);
  return step;
}

std::string reason_to_leave_out(const Record& record, const TrainingSource* source, const Facts& facts) {
  if (source == nullptr)
    return "the source \"" + first_word(record.id) + "\" is not one that this reader knows";
  if (!source->left_out_because.empty()) return std::string(source->left_out_because);
  for (const std::string& reason :
       {unknown_knob(record.config), missing_quantity(record), unlike_training(record)}) {
    if (!reason.empty()) return reason;
  }
  const std::string gpu = gpu_name(facts, record.hardware);
  const std::string model = record.json.required("model").text();
  if (!has_shape(record.config)) return why_unknown(facts, gpu, name_in_facts(facts, model));
  return facts.has_gpu(gpu) ? "" : facts.why_no_gpu(gpu);
}

void read_record(Imported& imported, const JsonView& view, const Facts& facts) {
  const Record record = record_of(view);
  const TrainingSource* source = find_training_source(first_word(record.id));
  const std::string reason = reason_to_leave_out(record, source, facts);
  if (!reason.empty()) {
    imported.left_out.push_back({record.id, reason});
    return;
  }
  const std::string name = record.json.required("model").text();
  const Model model =
      has_shape(record.config) ? shape_of(name, record.config) : facts.model(name_in_facts(facts, name));
  const Gpu& gpu = facts.gpu(gpu_name(facts, record.hardware));
  add_measured_step(imported, step_of(record, model, gpu, *source));
}

void read_document(Imported& imported, const std::string& text, const Facts& facts) {
  const Json json = parse_json(text);
  const JsonView view(json);
  const JsonView schema = view.required("schema");
  if (schema.text() != kSchema) schema.fail("expected \"" + std::string(kSchema) + "\"");
  for (const JsonView& record : view.required("records").items()) read_record(imported, record, facts);
}

}  // namespace

Imported read_training(const std::vector<std::filesystem::path>& files, const Facts& facts) {
  Imported imported;
  for (const std::filesystem::path& file : files) {
    const std::string text = read_text_file(file);
    try {
      read_document(imported, text, facts);
    } catch (const Error& error) {
      throw Error(error.kind(), file.string() + ": " + error.what());
    }
  }
  return imported;
}

}  // namespace sextant
