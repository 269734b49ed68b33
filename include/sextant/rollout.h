// The rules by which a framework fills a batch with rollouts: a part of the workflow document.
//
//   dynamic sampling   only prompts with both right and wrong responses are trained (DAPO)
//   over-sampling      more prompts are started than a batch needs, and generation ends when it has enough
//   partial rollouts   unfinished responses continue in the next iteration (APRIL, AReaL, slime)
#pragma once

#include <optional>
#include <string_view>

#include "sextant/json.h"
#include "sextant/lengths.h"

namespace sextant {

struct Workflow;

// Treatment of the responses that are unfinished when the batch is full.
enum class Unfinished {
  waited_for,  // a round ends with its last response; if too few prompts were kept another round follows
  discarded,   // they are stopped and thrown away
  resumed,     // they are stopped and continue in the next iteration after a prefill of their tokens
};

struct RolloutRules {
  double kept_fraction = 1;  // share of the prompts that are trained; (0, 1]
  int started_prompts = 0;   // concurrent prompts; 0: as many as a batch has
  Unfinished unfinished = Unfinished::waited_for;
  // New weights interrupt generation, and running responses repeat their prefill (asynchronous modes).
  bool is_interrupted = false;
  double environment_deviation_s_per_turn = 0;  // standard deviation of environment_s_per_turn
  int environments = 0;                         // maximum number that run concurrently; 0: no limit
  bool has_rewards_beside = false;              // rule-based rewards overlap with generation
  int reward_workers = 1;                       // responses that a rule scores at the same time
  // Asynchronous: batches whose responses are generated at the same time. 0: as many as the staleness, at least one.
  double batches_in_flight = 0;

  friend bool operator==(const RolloutRules&, const RolloutRules&) = default;
  static RolloutRules parse(const JsonView& view);
  // Writes only the members that differ from the defaults.
  [[nodiscard]] Json to_json() const;
};

[[nodiscard]] std::string_view name_of(Unfinished unfinished);

// The work of generation for a batch, in sequences per trained sequence.
//
// With P prompts of a batch, n responses per prompt, S started prompts and the kept fraction k:
//   waited_for  r = ceil(P / (k S)) rounds of S
//   discarded   S, each at most L tokens long. A prompt is ready when its longest response is, so that P / k
//               of S are ready at L = F^-1((P / (k S))^(1/n)), with F the distribution of lengths.
//   resumed     P / k are finished in an iteration while S are running
// The members list the values of the three cases in this order.
struct RolloutBatch {
  double generated = 1;        // r S / P, S / P, 1 / k
  double started = 1;          // S / P
  double rounds = 1;           // r for waited_for, otherwise 1
  std::optional<Lengths> cut;  // lengths truncated at L

  [[nodiscard]] const Lengths& response_tokens(const Workflow& workflow) const;
  // Sequences that were started but not finished in this iteration, per trained sequence.
  [[nodiscard]] double unfinished() const;
};

[[nodiscard]] RolloutBatch rollout_batch(const Workflow& workflow);

}  // namespace sextant
