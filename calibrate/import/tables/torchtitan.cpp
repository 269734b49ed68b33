#include "calibrate/import/tables/torchtitan.h"

#include <array>
#include <cmath>

#include "core/csv.h"
#include "core/json_value.h"

namespace sextant {
namespace {

constexpr const char* kSource =
    "torchtitan benchmarks, github.com/pytorch/torchtitan benchmarks/ "
    "@b5bcd76c66d0acb1a08b176d9639425bc55e0b2a: ";

// From this year on torchtitan compiles its loss with the model.
constexpr std::string_view kFirstCompiledLoss = "2025";

// Selective recomputation of torchtitan keeps the results of attention and of every other matrix product, or
// skips whole layers: neither is what the plan's "selective" repeats, so the share is left to the fit.
void set_selective(MeasuredStep& step) {
  constexpr double kDeviation = 0.3;
  step.unstated.push_back({UnstatedQuantity::recompute, "torchtitan-selective", kDeviation});
}

void set_recompute(MeasuredStep& step, const std::string& recompute) {
  if (recompute == "full") {
    step.recompute = Recompute::full;
  } else if (recompute != "none") {
    set_selective(step);
  }
}

// Fully sharded; with a pipeline the weights are gathered once a step and gradients reduced once, after the
// last micro-batch (the stages of torch.distributed.pipelining switch resharding off): the traffic of ZeRO
// stage 1.
int zero_stage(const Degrees& degrees) {
  if (degrees.data_parallel * degrees.context_parallel == 1) return 0;
  return degrees.pipeline_parallel > 1 ? 1 : 3;
}

// "H100-96GB" where the facts have that variant: torchtitan's H100 are not those of a DGX.
std::string gpu_name(const CsvRow& row, const Facts& facts) {
  const std::string& type = row.text("gpu_type");
  const std::string variant =
      type + "-" + Json(std::lround(row.positive("gpu_memory_bytes") / 1e9)).dump() + "GB";
  return facts.has_gpu(variant) ? variant : type;
}

bool is_loss_compiled(const CsvRow& row) {
  if (!row.has_column("torch_compile") || !row.has_column("measured")) return false;
  return row.flag("torch_compile") && row.optional_text("measured").value_or("") >= kFirstCompiledLoss;
}

Degrees degrees_of(const CsvRow& row) {
  return {.data_parallel = row.count("fsdp", 1),
          .pipeline_parallel = row.count("pp", 1),
          .tensor_parallel = row.count("tp", 1),
          .context_parallel = row.count("cp", 1)};
}

TorchtitanKnobs knobs_of(const CsvRow& row) {
  constexpr std::array<std::string_view, 4> kKinds{"none", "full", "selective", "per-op selective"};
  const std::size_t kind = row.one_of("activation_recompute", {kKinds.begin(), kKinds.end()});
  return {.recompute = std::string(kKinds.at(kind)),
          .fp8_linears = row.text("precision").starts_with("float8"),
          .local_batch_sequences = row.count("local_batch_sequences", 1)};
}

std::string yes_or_no(bool is_so) { return is_so ? "yes" : "no"; }

void add_notes(MeasuredStep& step, const CsvRow& row) {
  step.notes["source"] = kSource + row.text("source");
  step.notes["precision"] = row.text("precision");
  step.notes["torch.compile"] = yes_or_no(row.flag("torch_compile"));
  step.notes["asynchronous tensor parallelism"] = yes_or_no(row.flag("async_tp"));
  const bool is_stated = row.text("seq_tokens_source") == "stated";
  step.notes["grade"] = std::string(is_stated ? "A" : "B");
  step.notes["left unsaid"] = "prefetch and overlap settings, spread";
  if (!is_stated) step.notes["left unsaid"] += ", sequence length (8192 by the configuration files)";
}

MeasuredStep step_of(const CsvRow& row, const Facts& facts) {
  MeasuredStep step;
  step.name = row.text("run_id");
  step.gpu = facts.gpu(gpu_name(row, facts));
  step.model = facts.model(row.text("model"));
  step.gpus = row.count("gpu_count", 1);
  step.gpus_per_node = row.count("gpus_per_node", 1);
  step.degrees = degrees_of(row);
  step.sequences = row.count("global_batch_sequences", 1);
  step.sequence_tokens = row.count("seq_tokens", 1);
  step.step_s = step.sequences * step.sequence_tokens / (row.positive("tokens_per_s_per_gpu") * step.gpus);
  step.peak_memory_bytes = row.optional_number("peak_memory_bytes");
  set_torchtitan(step, knobs_of(row));
  step.execution.fused_loss = is_loss_compiled(row);
  add_notes(step, row);
  return step;
}

}  // namespace

void set_torchtitan(MeasuredStep& step, const TorchtitanKnobs& knobs) {
  step.framework = "torchtitan";
  // A pipeline cuts the local batch into micro-batches of one sequence.
  step.micro_batch_sequences = step.degrees.pipeline_parallel > 1 ? 1 : knobs.local_batch_sequences;
  set_recompute(step, knobs.recompute);
  step.execution.zero_stage = zero_stage(step.degrees);
  step.execution.sequence_parallel = step.degrees.tensor_parallel > 1;
  step.execution.fused_attention = true;
  step.execution.gradient_precision = Precision::fp32;  // mixed_precision_reduce, its default
  if (step.degrees.pipeline_parallel > 1) {
    // Without a reduction after every micro-batch FSDP accumulates whole gradients in the format of the
    // reduction.
    step.execution.main_gradient_precision = Precision::fp32;
  }
  if (knobs.fp8_linears) {
    step.execution.precision = Precision::fp8;
    step.execution.weight_precision = Precision::bf16;
  }
}

Imported read_torchtitan(const std::vector<std::filesystem::path>& files, const Facts& facts) {
  Imported imported;
  for (const std::filesystem::path& file : files) {
    const CsvTable table = load_csv(file);
    table.require_columns({"run_id", "model", "gpu_type", "gpu_memory_bytes", "gpu_count", "gpus_per_node",
                           "fsdp", "tp", "pp", "cp", "seq_tokens", "local_batch_sequences",
                           "global_batch_sequences", "precision", "activation_recompute",
                           "tokens_per_s_per_gpu"});
    for (const CsvRow& row : table.rows()) {
      const std::string unknown = why_unknown(facts, gpu_name(row, facts), row.text("model"));
      if (unknown.empty()) {
        add_measured_step(imported, step_of(row, facts));
      } else {
        imported.left_out.push_back({row.text("run_id"), unknown});
      }
    }
  }
  return imported;
}

}  // namespace sextant
