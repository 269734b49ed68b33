// How old the weights are that made the tokens of an update: the price of generating while training runs, which
// no time shows.
//
// A token's staleness is the number of weight versions between the one that made it and the one that is trained
// on it. A token of a synchronous plan has 0. The distribution follows from the model's own times, of a run
// that has settled; nothing here is from a paper.
//
//   G, R   generation and all other tasks of an iteration, c the parts that training takes a batch in
//   s      the bound of staleness (Workflow::staleness)
//   w      sequences that are on their way when weights change, for each that is finished in an iteration: by
//          Little's law the mean number of times that weights change under a sequence
//
// One-step-off makes a whole batch with the weights of one update before: 1. An asynchronous engine goes on
// with the new weights in the middle of a response. Where generation is the slower side, it never rests, and
// the part
//   a = max(R / c, R - (1 - 1/c) G) / G
// of the next batch is made before training publishes new weights; 0 where generation shares devices with other
// tasks and waits for them. A token made x iterations before its batch is complete, x = v + u w with v and u
// even between 0 and 1, has staleness max(0, ceil(x - 1 + a)), a + w / 2 in the mean. No token is older than
// the bound: what would be has the bound itself. Where generation is the faster side (a > 1, or a mean of more
// than s), the bound holds it back, and all tokens are as old as it allows: s, as a mixture of the whole
// numbers next to it.
#pragma once

#include <vector>

#include "sextant/workflow.h"

namespace sextant::inline costmodel {

struct StalenessInputs {
  double generation_s = 0;  // G
  double rest_s = 0;        // R
  bool overlaps = false;    // generation runs while the other tasks do (generation_overlaps)
  double carried = 0;       // w
};

// Bounds and w of more than this count as this: the answer has an entry for each version.
inline constexpr double kMaxStaleness = 1000;

// Fractions of the trained tokens by staleness 0, 1, ...; they sum to 1. Empty where all are fresh by
// definition: in synchronous mode without sequences that go on in the next iteration.
[[nodiscard]] std::vector<double> staleness_fractions(const Workflow& workflow, const StalenessInputs& inputs);

}  // namespace sextant::inline costmodel
