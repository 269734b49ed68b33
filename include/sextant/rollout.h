// How a framework fills a batch with rollouts: a part of the workflow document.
//
//   dynamic sampling   only prompts whose responses are neither all right nor all wrong are trained (DAPO)
//   over-sampling      more prompts are started than a batch needs, and generation ends when it has enough
//   partial rollouts   what is not ready by then goes on in the next iteration (APRIL, AReaL, slime)
#pragma once

#include <optional>
#include <string_view>

#include "sextant/json.h"
#include "sextant/lengths.h"

namespace sextant {

struct Workflow;

// A batch may have enough responses before all are ready; this says what becomes of the others.
enum class Unfinished {
  waited_for,  // a round ends with its last response; where too few prompts were kept another round follows
  discarded,   // they are stopped, and made for nothing
  resumed,     // they are stopped, and go on in the next iteration after a prefill of what they have
};

struct RolloutRules {
  double kept_fraction = 1;  // of the prompts: those that are trained; (0, 1]
  int started_prompts = 0;   // at the same time; 0: as many as a batch has
  Unfinished unfinished = Unfinished::waited_for;
  // New weights stop generation, and what runs then passes the layers again (asynchronous modes).
  bool is_interrupted = false;
  double environment_deviation_s_per_turn = 0;  // standard deviation, beside environment_s_per_turn
  int environments = 0;                         // that can run at the same time; 0: enough
  bool has_rewards_beside = false;              // rewards of a rule while other responses are made

  friend bool operator==(const RolloutRules&, const RolloutRules&) = default;
  static RolloutRules parse(const JsonView& view);
  // The members that are not as above.
  [[nodiscard]] Json to_json() const;
};

[[nodiscard]] std::string_view name_of(Unfinished unfinished);

// The work of generation for a batch, in sequences for each one that is trained.
//
// With P prompts of a batch, n responses a prompt, S prompts started and k the kept fraction:
//   waited_for  r = ceil(P / (k S)) rounds of S
//   discarded   S, each at most L tokens long: a prompt is ready when its longest response is, so that P / k of
//   S
//               are ready at L = F^-1((P / (k S))^(1/n)), F the distribution of lengths
//   resumed     P / k are finished in an iteration while S are on their way
struct RolloutBatch {
  double generated = 1;        // r S / P, S / P, 1 / k
  double started = 1;          // S / P
  double rounds = 1;           // r, else 1
  std::optional<Lengths> cut;  // lengths that end at L

  [[nodiscard]] const Lengths& response_tokens(const Workflow& workflow) const;
  // Sequences that are on their way and not finished in this iteration, for each that is trained.
  [[nodiscard]] double unfinished() const;
};

[[nodiscard]] RolloutBatch rollout_batch(const Workflow& workflow);

}  // namespace sextant
