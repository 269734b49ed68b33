#include "reports/import/importer.h"

#include <algorithm>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

// `pattern` has any number of "*".
bool matches_pattern(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*')
    return !text.empty() && text.front() == pattern.front() &&
           matches_pattern(text.substr(1), pattern.substr(1));
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped) {
    if (matches_pattern(text.substr(skipped), pattern.substr(1))) return true;
  }
  return false;
}

std::string shown_value(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_unneeded(const TrainerSetting& setting, const UnneededSettings& unneeded) {
  if (setting.value.is_null()) return true;
  const auto is_plain = [&](std::string_view pattern) { return matches_pattern(setting.key, pattern); };
  if (std::any_of(unneeded.without_effect.begin(), unneeded.without_effect.end(), is_plain)) return true;
  return std::any_of(unneeded.neutral.begin(), unneeded.neutral.end(), [&](const auto& one) {
    return matches_pattern(setting.key, one.first) && shown_value(setting.value) == one.second;
  });
}

}  // namespace

std::vector<std::string> unused_settings(const TrainerSettings& settings, const Importer& importer,
                                         const RunFacts& facts) {
  UnneededSettings unneeded = importer.unneeded;
  unneeded.without_effect.insert(unneeded.without_effect.end(), facts.without_effect.begin(),
                                 facts.without_effect.end());
  std::vector<std::string> out;
  for (const TrainerSetting& setting : settings.unread()) {
    if (!is_unneeded(setting, unneeded)) out.push_back(setting.key + "=" + shown_value(setting.value));
  }
  return out;
}

RunGraph graph_of(const RunFacts& facts) {
  const GraphOptions options{facts.has_reference, facts.has_old_log_prob};
  if (facts.has_critic) return {Algorithm::ppo, ppo_tasks(options, facts.has_reward_model)};
  return {Algorithm::grpo, grpo_tasks(facts.has_reward_model, options)};
}

void take_batches(const TrainerSettings& settings, const BatchKeys& keys, RunFacts& facts) {
  facts.prompts = settings.count(keys.prompts, keys.usual_prompts);
  facts.responses_per_prompt = settings.count(keys.responses, keys.usual_responses);
  constexpr int kAssumedPrompt = 1024;
  facts.max_response_tokens = settings.count(keys.response_tokens, keys.usual_response);
  if (keys.must_state_response && !settings.has(keys.response_tokens))
    facts.notes.push_back(std::string(keys.response_tokens) + " is not stated: responses of at most " +
                          std::to_string(keys.usual_response) + " tokens are assumed");
  const int total = settings.count(
      keys.total_tokens, keys.usual_total > 0 ? keys.usual_total : facts.max_response_tokens + kAssumedPrompt);
  const int rest = total - facts.max_response_tokens;
  facts.max_prompt_tokens = settings.count(keys.prompt_tokens, rest > 0 ? rest : kAssumedPrompt);
}

void take_steps(long long step_sequences, const std::string& key, RunFacts& facts) {
  constexpr long long kMaxSteps = 10'000;
  const long long sequences = 1LL * facts.prompts * facts.responses_per_prompt;
  facts.mini_batches =
      static_cast<int>(std::clamp<long long>(sequences / std::max(1LL, step_sequences), 1, kMaxSteps));
  if (sequences != step_sequences * facts.mini_batches)
    facts.notes.push_back(key + " does not divide the sequences of a batch: " +
                          std::to_string(facts.mini_batches) + " equal optimizer steps are assumed");
}

void refuse_other_training(const TrainerSettings& settings, const std::string& key, std::string_view training) {
  throw_bad_input(settings.place_of(key) + ": the configuration trains by " + std::string(training) +
                  "; give one of PPO or GRPO");
}

std::string key_below(const TrainerSettings& settings, std::string_view section) {
  const std::string root = std::string(section) + ".";
  const auto found = std::find_if(settings.all().begin(), settings.all().end(),
                                  [&](const TrainerSetting& one) { return one.key.starts_with(root); });
  return found == settings.all().end() ? "" : found->key;
}

void note_estimator(const std::string& key, const std::string& estimator, RunFacts& facts) {
  facts.notes.push_back(key + "=" + estimator + ": the tasks are those of GRPO");
}

GpuShape shape_of_pools(const GpuShape& a, const GpuShape& b) {
  constexpr int kUsualNode = 8;
  if (a.nodes == b.nodes && a.gpus_per_node + b.gpus_per_node <= kUsualNode)
    return {a.nodes, a.gpus_per_node + b.gpus_per_node};
  return {a.nodes + b.nodes, std::max(a.gpus_per_node, b.gpus_per_node)};
}

}  // namespace sextant::inline reports
