// WEAVE (Wu et al. 2026): Tables 4 and 5, and Figures 4, 10, 12 to 15 and 17 to 20 as far as they are numbers.
//
// Times of single jobs and of the weight sync are predictions of the cost model. Everything else is what our scheduler
// decides and what our simulation of turns says: about groups whose phases have the printed lengths, about drawn jobs
// of the paper's Table 6, and about a trace of 200 jobs in two weeks, which the paper describes and does not publish.
#pragma once

#include "lab/reproduce/study.h"

namespace sextant::weave {

// Adds Table 2: what the GPUs of a node hold between phases, as the cost model has it.
void add_states(ReproducedExperiment& out, const Facts& facts);
// Adds the figures of each section that need no prediction.
void add_micro_benchmarks(ReproducedExperiment& out, const Facts& facts);  // sections 3.2, 6.2, 6.3 and 6.6
void add_two_weeks(ReproducedExperiment& out, std::uint64_t seed);         // sections 6.4 and 6.6
void add_scheduler(ReproducedExperiment& out, std::uint64_t seed);         // section 6.5 and the appendix

[[nodiscard]] std::vector<std::string> assumptions();
[[nodiscard]] std::vector<Cause> causes();
[[nodiscard]] std::vector<std::string> contradictions();

}  // namespace sextant::weave
