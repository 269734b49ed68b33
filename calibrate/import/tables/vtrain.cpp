#include "calibrate/import/tables/vtrain.h"

#include "calibrate/import/records/measured_step.h"
#include "core/csv.h"

namespace sextant {
namespace {

constexpr const char* kSource =
    "vTrain (MICRO 2024, arXiv 2312.12391), github.com/VIA-Research/vTrain "
    "@f8dda8473a48b373b1d25f51f52d685bff5150c5, data/ground_truth_single.csv and data/ground_truth_multi.csv";

// The result of a check of the rows of one node; data/public/vtrain/README.md has the evidence.
constexpr const char* kCaveat =
    "composed by the source's own procedure from about 28 layer times, not an independent end-to-end "
    "measurement: "
    "the rows are exactly linear in the number of micro-batches and data parallelism adds an exact constant";

constexpr int kVocabulary = 50257;    // the default of the authors' simulator; the data do not say
constexpr int kFeedForwardRatio = 4;  // GPT

// 800 Gbit/s between nodes, all links of a node together, in the authors' configuration files.
constexpr double kNetworkBytesPerS = 100e9;

Model gpt(const CsvRow& row) {
  constexpr int kWidest = 1'000'000;  // a slip of the pen must not overflow the feed-forward width
  Model model;
  model.hidden = row.count("hidden", 1);
  if (model.hidden > kWidest) row.fail("hidden", "expected at most " + std::to_string(kWidest));
  model.layers = row.count("layers", 1);
  model.name = "GPT " + std::to_string(model.layers) + " x " + std::to_string(model.hidden) + " (vTrain)";
  model.intermediate = kFeedForwardRatio * model.hidden;
  model.gated_mlp = false;
  model.heads = row.count("heads", 1);
  model.kv_heads = model.heads;
  if (model.hidden % model.heads != 0) row.fail("heads", "expected a divisor of the hidden size");
  model.head_dim = model.hidden / model.heads;
  model.vocabulary = kVocabulary;
  model.tied_embeddings = true;  // Megatron's default
  return model;
}

Gpu with_network(Gpu gpu) {
  gpu.network_bytes_per_s = kNetworkBytesPerS;
  gpu.between_nodes.bytes_per_s = assumed(kNetworkBytesPerS / gpu.per_node,
                                          "a GPU's share of a node's 800 Gbit/s (authors' configuration)");
  return gpu;
}

void set_recompute(MeasuredStep& step, bool is_one_node) {
  if (!is_one_node) {
    step.recompute = Recompute::full;
    step.notes["grade"] = "A";
    return;
  }
  constexpr double kDeviation = 0.5;  // either may be true
  step.unstated.push_back({UnstatedQuantity::recompute, "vtrain-single", kDeviation});
  step.notes["caveat"] = kCaveat;
}

std::string left_unsaid(bool is_one_node) {
  std::string out =
      "GPU memory size (80 GB taken), precision (fp16 in the authors' profiler), vocabulary, ZeRO stage, "
      "optimizer, software versions, placement of parallel groups, iterations averaged, spread";
  return is_one_node ? out + ", recomputation" : out;
}

MeasuredStep step_of(const CsvRow& row, const Gpu& gpu) {
  const bool is_one_node = row.count("node_count", 1) == 1;
  MeasuredStep step;
  step.name = row.text("run_id");
  step.framework = "megatron-deepspeed";
  step.model = gpt(row);
  step.gpu = with_network(gpu);
  step.gpus = row.count("gpu_count", 1);
  step.degrees = {.data_parallel = row.count("dp", 1),
                  .pipeline_parallel = row.count("pp", 1),
                  .tensor_parallel = row.count("tp", 1)};
  step.sequences = row.count("global_batch_sequences", 1);
  step.sequence_tokens = row.count("seq_tokens", 1);
  step.micro_batch_sequences = row.count("micro_batch_sequences", 1);
  step.precision = Precision::fp16;
  step.execution.semantics = "megatron";
  step.step_s = row.positive("iteration_time_s");
  set_recompute(step, is_one_node);
  step.notes["source"] = kSource;
  step.notes["left unsaid"] = left_unsaid(is_one_node);
  return step;
}

}  // namespace

Imported read_vtrain(const std::vector<std::filesystem::path>& files, const Facts& facts) {
  Imported imported;
  for (const std::filesystem::path& file : files) {
    const CsvTable table = load_csv(file);
    table.require_columns({"run_id", "gpu_type", "node_count", "gpu_count", "hidden", "layers", "heads",
                           "seq_tokens", "global_batch_sequences", "micro_batch_sequences", "tp", "pp", "dp",
                           "iteration_time_s"});
    for (const CsvRow& row : table.rows()) {
      const std::string& gpu = row.text("gpu_type");
      if (facts.has_gpu(gpu)) {
        add_measured_step(imported, step_of(row, facts.gpu(gpu)));
      } else {
        imported.left_out.push_back({row.text("run_id"), facts.why_no_gpu(gpu)});
      }
    }
  }
  return imported;
}

}  // namespace sextant
