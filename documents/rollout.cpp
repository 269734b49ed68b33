#include "sextant/rollout.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/json_value.h"
#include "documents/values/names.h"
#include "sextant/workflow.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kUnfinished{"waited_for", "discarded", "resumed"};

// A ratio of whole numbers that is one round is one round.
double rounds_of(double prompts, double kept) {
  constexpr double kRounding = 1e-9;
  return std::max(1.0, std::ceil(prompts / kept - kRounding));
}

}  // namespace

std::string_view name_of(Unfinished unfinished) { return name_in(kUnfinished, unfinished); }

RolloutRules RolloutRules::parse(const JsonView& view) {
  view.allow_only({"kept_fraction", "started_prompts", "unfinished", "interrupted",
                   "environment_deviation_s_per_turn", "environments", "rewards_beside_generation"});
  RolloutRules out;
  if (const auto kept = view.optional("kept_fraction")) {
    out.kept_fraction = kept->positive();
    if (out.kept_fraction > 1) kept->fail("expected a number <= 1");
  }
  if (const auto started = view.optional("started_prompts")) out.started_prompts = started->count(1);
  if (const auto unfinished = view.optional("unfinished"))
    out.unfinished = parse_name<Unfinished>(*unfinished, kUnfinished);
  if (const auto interrupted = view.optional("interrupted")) out.is_interrupted = interrupted->flag();
  if (const auto deviation = view.optional("environment_deviation_s_per_turn"))
    out.environment_deviation_s_per_turn = deviation->non_negative();
  if (const auto environments = view.optional("environments")) out.environments = environments->count(1);
  if (const auto beside = view.optional("rewards_beside_generation")) out.has_rewards_beside = beside->flag();
  return out;
}

Json RolloutRules::to_json() const {
  const RolloutRules usual;
  Json out = Json::object();
  if (kept_fraction != usual.kept_fraction) out["kept_fraction"] = kept_fraction;
  if (started_prompts != usual.started_prompts) out["started_prompts"] = started_prompts;
  if (unfinished != usual.unfinished) out["unfinished"] = name_of(unfinished);
  if (is_interrupted) out["interrupted"] = true;
  if (environment_deviation_s_per_turn != usual.environment_deviation_s_per_turn)
    out["environment_deviation_s_per_turn"] = environment_deviation_s_per_turn;
  if (environments != usual.environments) out["environments"] = environments;
  if (has_rewards_beside) out["rewards_beside_generation"] = true;
  return out;
}

const Lengths& RolloutBatch::response_tokens(const Workflow& workflow) const {
  return cut ? *cut : workflow.response_tokens;
}

double RolloutBatch::unfinished() const { return std::max(0.0, started - generated); }

RolloutBatch rollout_batch(const Workflow& workflow) {
  const RolloutRules& rollout = workflow.rollout;
  const double prompts = workflow.prompts;
  const double at_once = rollout.started_prompts > 0 ? rollout.started_prompts : prompts;
  RolloutBatch batch;
  batch.started = at_once / prompts;
  switch (rollout.unfinished) {
    case Unfinished::waited_for:
      batch.rounds = rounds_of(prompts, rollout.kept_fraction * at_once);
      batch.generated = batch.rounds * batch.started;
      break;
    case Unfinished::discarded: {
      batch.generated = batch.started;
      const double ready = std::min(1.0, prompts / (rollout.kept_fraction * at_once));
      if (ready < 1)
        batch.cut =
            cut_at(workflow.response_tokens,
                   workflow.response_tokens.quantile(std::pow(ready, 1.0 / workflow.responses_per_prompt)));
      break;
    }
    case Unfinished::resumed:
      batch.generated = 1 / rollout.kept_fraction;
      break;
  }
  return batch;
}

}  // namespace sextant
