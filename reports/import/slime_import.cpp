// Configurations of slime: launch scripts with flags for train.py and train_async.py.
//
// Defaults are those of slime/utils/arguments.py at v0.3.1, github.com/THUDM/slime; Megatron's own flags, and those
// of SGLang behind "--sglang-", are in the same list.
#include <algorithm>

#include "core/json_value.h"
#include "reports/import/importers.h"

namespace sextant {
namespace {

constexpr const char* kResponse = "rollout-max-response-len";

void read_slime_lengths(const TrainerSettings& settings, RunFacts& facts) {
  constexpr int kAssumedTokens = 1024;
  facts.max_response_tokens = settings.count(kResponse, kAssumedTokens);
  if (!settings.has(kResponse))
    facts.notes.push_back(std::string(kResponse) + " is not stated: responses of at most " +
                          std::to_string(kAssumedTokens) + " tokens are assumed");
  const int context = settings.count("rollout-max-context-len", facts.max_response_tokens + kAssumedTokens);
  const int rest = context - facts.max_response_tokens;
  facts.max_prompt_tokens = settings.count("rollout-max-prompt-len", rest > 0 ? rest : kAssumedTokens);
}

void read_slime_batches(const TrainerSettings& settings, RunFacts& facts) {
  facts.prompts = settings.count("rollout-batch-size", 32);
  facts.responses_per_prompt = settings.count("n-samples-per-prompt", 1);
  const long long sequences = 1LL * facts.prompts * facts.responses_per_prompt;
  constexpr int kMaxSteps = 10'000;
  if (settings.has("num-steps-per-rollout")) {
    facts.mini_batches = settings.count("num-steps-per-rollout", 1, kMaxSteps);
    return;
  }
  const long long all = std::min<long long>(sequences, TrainerSettings::kMaxCount);
  const int step = settings.count("global-batch-size", static_cast<int>(all));
  facts.mini_batches = static_cast<int>(std::max(1LL, sequences / step));
  if (sequences % step != 0)
    facts.notes.push_back("global-batch-size does not divide the sequences of a rollout: " +
                          std::to_string(facts.mini_batches) + " equal optimizer steps are assumed");
}

// Engines with GPUs of their own, as the exporter's reader takes them.
void read_slime_gpus(const TrainerSettings& settings, RunFacts& facts) {
  constexpr int kUsualNode = 8;
  GpuShape shape{settings.count("actor-num-nodes", 1, TrainerSettings::kMaxNodes),
                 settings.count("actor-num-gpus-per-node", kUsualNode, TrainerSettings::kMaxGpusPerNode)};
  if (!settings.flag("colocate", false)) {
    const int gpus = settings.count("rollout-num-gpus", shape.nodes * shape.gpus_per_node);
    shape = shape_of_pools(
        shape, gpus % kUsualNode == 0 ? GpuShape{gpus / kUsualNode, kUsualNode} : GpuShape{1, gpus});
  }
  facts.nodes = shape.nodes;
  facts.gpus_per_node = shape.gpus_per_node;
}

void read_slime_mode(const RunSettings& run, RunFacts& facts) {
  facts.is_interrupted = run.settings.flag("partial-rollout", false);
  if (run.program.find("train_async") == std::string::npos) return;
  const std::string rollout = run.settings.text("rollout-function-path", "");
  facts.mode = rollout.find("fully_async") == std::string::npos ? Mode::one_step_off : Mode::asynchronous;
  facts.staleness = 1;
}

// The trainer computes log-probabilities again unless its own first pass gives them (backends/megatron_utils/actor.py,
// can_reuse_log_probs_in_loss) or those of the engine are used.
bool computes_log_probs(const TrainerSettings& settings, const RunFacts& facts, const std::string& estimator) {
  const bool uses_engine = settings.flag("use-rollout-logprobs", false);
  const bool is_reused = facts.mini_batches == 1 && settings.number("kl-coef", 0) == 0 && !facts.has_critic &&
                         !settings.flag("keep-old-actor", false) && estimator != "gspo";
  return !uses_engine && !is_reused;
}

RunFacts read_slime_run(RunSettings& run) {
  const TrainerSettings& settings = run.settings;
  RunFacts facts;
  facts.profile = "slime";
  const std::string estimator = settings.text("advantage-estimator", "grpo");
  facts.has_critic = estimator == "ppo";
  if (!facts.has_critic && estimator != "grpo")
    facts.notes.push_back("advantage-estimator=" + estimator + ": the tasks are those of GRPO");
  facts.has_reference = settings.flag("use-kl-loss", false) || settings.number("kl-coef", 0) != 0;
  facts.actor = settings.text("hf-checkpoint", "");
  read_slime_mode(run, facts);
  read_slime_gpus(settings, facts);
  read_slime_batches(settings, facts);
  read_slime_lengths(settings, facts);
  facts.has_old_log_prob = computes_log_probs(settings, facts, estimator);
  const std::string granularity = settings.text("recompute-granularity", "");
  if (granularity == "full" && settings.text("recompute-method", "uniform") != "uniform")
    facts.notes.emplace_back("recompute-method: the plan recomputes all layers");
  return facts;
}

UnneededSettings slime_unneeded() {
  UnneededSettings out;
  out.without_effect = {
      "load", "ref-load", "save*", "ckpt-*", "no-save-*", "no-load-*", "finetune", "prompt-data", "input-key",
      "label-key", "metadata-key", "tool-key", "apply-chat-template*", "rollout-shuffle", "rollout-seed",
      "rm-*", "custom-*", "reward-key", "eval-*", "*-eval-*", "num-rollout", "num-epoch", "rollout-temperature",
      "rollout-top-*", "rollout-stop*", "rollout-skip-special-tokens", "rollout-function-path", "balance-data",
      "over-sampling-batch-size", "dynamic-sampling-filter-path", "kl-*", "entropy-coef", "eps-clip*", "gamma",
      "lambd", "normalize-advantages", "use-tis", "tis-*", "optimizer", "lr*", "min-lr", "weight-decay",
      "clip-grad", "adam-*", "critic-lr*", "num-critic-only-steps", "value-clip", "use-wandb", "wandb-*",
      "use-tensorboard", "tensorboard-*", "tb-*", "seed", "attention-dropout", "hidden-dropout",
      "attention-softmax-in-fp32", "attention-backend", "log-*", "loss-mask-type", "num-gpus-per-node",
      "recompute-method", "recompute-num-layers", "recompute-modules", "sglang-log-level", "sglang-router-*",
      "rollout-num-gpus*", "hf-checkpoint", "train-memory-margin-bytes", "transformer-impl",
      "distributed-timeout-minutes",
      // the shape of the model, which its name gives
      "num-layers", "hidden-size", "ffn-hidden-size", "num-attention-heads", "group-query-attention",
      "num-query-groups", "kv-channels", "qk-layernorm", "use-rotary-position-embeddings", "rotary-*",
      "disable-bias-linear", "add-qkv-bias", "normalization", "norm-epsilon", "swiglu", "vocab-size",
      "untie-embeddings-and-output-weights", "num-experts", "moe-ffn-hidden-size", "moe-router-*",
      "moe-layer-freq", "moe-shared-expert-intermediate-size", "moe-aux-loss-coeff", "max-position-embeddings",
      "position-embedding-type", "make-vocab-size-divisible-by"};
  out.neutral = {{"accumulate-allreduce-grads-in-fp32", "true"},
                 {"moe-token-dispatcher-type", "alltoall"},
                 {"moe-grouped-gemm", "true"},
                 {"moe-permute-fusion", "true"},
                 {"bf16", "true"},
                 {"update-weights-interval", "1"},
                 {"use-distributed-optimizer", "true"},
                 {"use-precision-aware-optimizer", "true"},
                 {"overlap-cpu-optimizer-d2h-h2d", "true"}};
  return out;
}

}  // namespace

Importer slime_importer() {
  return {"slime", {SettingForm::flags, {"train.py", "train_async.py"}}, slime_unneeded(), read_slime_run};
}

}  // namespace sextant
