// Exchange between two phases: every rank's results of the phase reach every rank of the communicator.
#pragma once

#include "probes/comm/communicator.h"
#include "probes/proxy/rollout.h"

namespace sextant::proxy {

// Exchanges response tokens after generation.
void exchange_tokens(Communicator& everyone, const Workload& workload, Rollout& rollout);

// Exchanges log-probabilities, values and rewards after inference; then computes the advantages.
void exchange_scores(Communicator& everyone, const Workflow& workflow, const Workload& workload,
                     Rollout& rollout);

}  // namespace sextant::proxy
