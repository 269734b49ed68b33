// This resolves --framework and --coefficients: it chooses the coefficients and the profile of execution.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ask/coefficient_source.h"
#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline ask {

struct FrameworkQuestion {
  std::string coefficients;  // a file, "none", or empty: the shipped ones
  std::string framework;     // empty: not given
};

struct ChosenFramework {
  ChosenCoefficients chosen;
  std::optional<FrameworkProfile> profile;  // nullopt: tasks are executed as in HetRL's Appendix B
};

// The name of a family selects its default profile. If no framework is given: that of a coefficients file, if
// it is for one alone; a usual engine and trainer ("any") with the shipped coefficients; else none. Each choice
// that the user did not make is in the notes. Throws Error(bad_input) for a name that neither a profile nor any
// coefficients have, with the list of known names.
[[nodiscard]] ChosenFramework choose_framework(const FrameworkQuestion& asked, const Cluster& cluster);

// Throws Error(bad_input) if the framework is an engine that only generates and the workflow has training.
void require_trainer(const std::string& framework, const Workflow& workflow);

// "56 sequences over 32 replicas of actor_training", for tasks whose replicas must have equal shares of a batch.
[[nodiscard]] std::vector<std::string> uneven_batches(const FrameworkProfile& profile, const Workflow& workflow,
                                                      const Plan& plan);

// Low-rank adapters leave the weights as they are, so that the reference computes with those of the actor: gives both the
// same model, if the models are alike and the workflow has a reference.
void share_frozen_weights(Workflow& workflow);
// The same if the plan trains adapters and the framework computes its reference so.
void share_frozen_weights(const FrameworkProfile& profile, const Plan& plan, Workflow& workflow);

// Returns the profiles in the data folder, or none if there is no such folder.
[[nodiscard]] std::vector<FrameworkProfile> shipped_profiles();

}  // namespace sextant::inline ask
