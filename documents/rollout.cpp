#include "sextant/rollout.h"

#include <algorithm>
#include <cmath>

#include "documents/field_tables.h"
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

const Fields<RolloutRules>& documents::rollout_fields() {
  static const Fields<RolloutRules> fields{
      optional("kept_fraction", &RolloutRules::kept_fraction, share("expected a number <= 1"),
               "Share of the prompts that are trained on. Dynamic sampling drops prompts whose responses are "
               "all right or all wrong."),
      optional("started_prompts", &RolloutRules::started_prompts, count(),
               "Number of prompts started at the same time; missing: the prompts of a batch. More is "
               "over-sampling."),
      optional("unfinished", &RolloutRules::unfinished, one_of<Unfinished>(kUnfinished),
               "Treatment of responses that are not ready when a batch has enough: waited_for, and another "
               "round follows if too few prompts were kept; discarded; or resumed in the next iteration "
               "(partial rollouts)."),
      optional(
          "interrupted", &RolloutRules::is_interrupted, flag(),
          "New weights interrupt generation, and its tokens pass the layers again; only in asynchronous mode."),
      optional("environment_deviation_s_per_turn", &RolloutRules::environment_deviation_s_per_turn,
               non_negative(), "Standard deviation of environment_s_per_turn."),
      optional("environments", &RolloutRules::environments, count(),
               "Maximum number of environments that run at the same time; missing: no limit."),
      optional("rewards_beside_generation", &RolloutRules::has_rewards_beside, flag(),
               "Rule-based rewards are computed while other responses are generated; otherwise after the last "
               "response."),
      optional("reward_workers", &RolloutRules::reward_workers, count(),
               "Number of responses that a rule scores at the same time; missing: one."),
      optional("batches_in_flight", &RolloutRules::batches_in_flight, positive(),
               "Batches whose responses are generated at the same time in asynchronous mode; missing: the "
               "staleness, at "
               "least one."),
  };
  return fields;
}

RolloutRules RolloutRules::parse(const JsonView& view) { return parse_fields(view, rollout_fields()); }

Json RolloutRules::to_json() const { return fields_to_json(*this, rollout_fields()); }

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
