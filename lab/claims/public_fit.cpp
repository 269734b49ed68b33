#include "lab/claims/public_fit.h"

#include <algorithm>
#include <array>

#include "calibrate/familiarity.h"
#include "calibrate/families.h"
#include "calibrate/posterior.h"
#include "lab/claims/shared_priors.h"
#include "sextant/fit.h"

namespace sextant::inline lab {
namespace {

// The claims whose held-out errors hold for the predictions of a family. Other families take those of "any".
struct JudgingClaims {
  std::string_view family;
  std::string_view claims;
};

constexpr std::array<JudgingClaims, 15> kJudgingClaims{{
    {"verl", "rl"},
    {"nemo-rl", "rl"},
    {"openrlhf", "rl"},
    {"deepspeed-chat", "rl"},
    {"rlinf", "rl"},
    {"skyrl", "rl"},
    {"areal", "rl"},
    {"real", "real"},
    {"megatron", "training"},
    {"pytorch", "training"},
    {"vllm", "generation"},
    {"sglang", "generation"},
    {"tensorrt-llm", "generation"},
    {"lmdeploy", "generation"},
    {"transformers", "generation"},
}};

// The experience with the frameworks of a family, or with all.
std::vector<TaskExperience> experience_of_family(const std::vector<TaskExperience>& all,
                                                 std::string_view family) {
  std::vector<TaskExperience> kept;
  for (const TaskExperience& task : all) {
    if (family == kAnyFamily || family_of_framework(task.framework) == family) kept.push_back(task);
  }
  return kept;
}

constexpr const char* kIterations = "RL iterations";

std::string claims_of(std::string_view family) {
  const auto found = std::find_if(kJudgingClaims.begin(), kJudgingClaims.end(),
                                  [&](const JudgingClaims& one) { return one.family == family; });
  return found == kJudgingClaims.end() ? std::string(kAnyFamily) : std::string(found->claims);
}

// The part of a fit that the frameworks of a family need.
Coefficients cut(const Coefficients& fitted, const std::string& family, const std::vector<std::string>& runs) {
  Coefficients document = restricted(fitted, [&](const Coefficient& entry) {
    return entry.framework == kAny || family_of_framework(entry.framework) == family;
  });
  document.fit->runs = runs;
  document.fit->experience = experience_of_family(fitted.fit->experience, family);
  std::erase_if(document.fit->outliers, [&](const std::string& outlier) {
    return std::find(runs.begin(), runs.end(), outlier) == runs.end();
  });
  return document;
}

// vTrain's rows of one node were composed from layer times.
Runs several_nodes(const Runs& runs) {
  return subset(runs, [&](const Run& run) { return runs.cluster_of(run).nodes().size() > 1; });
}

}  // namespace

std::map<std::string, Runs> public_runs(const ClaimContext& context) {
  return {
      {kIterations, joined({context.published("rl"), verl_logs(context)})},
      {"training steps", joined({context.published("training"), context.published("torchtitan"),
                                 several_nodes(context.published("vtrain")), context.published("sailor")})},
      {"generation", joined({context.published("aiconfigurator"), context.published("blis"),
                             context.published("generation")})},
  };
}

std::map<std::string, Coefficients> fit_public_runs(const ClaimContext& context,
                                                    const std::map<std::string, HeldOutSummary>& held_out) {
  std::map<std::string, Coefficients> documents;
  for (const auto& [kind, runs] : public_runs(context)) {
    context.say("fit of " + std::to_string(runs.runs.size()) + " public runs: " + kind);
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::string>> names_of_family;
    for (const Run& run : runs.runs) {
      names.push_back(run.name);
      names_of_family[std::string(family_of_framework(run.framework))].push_back(run.name);
    }
    if (kind == kIterations) names_of_family[std::string(kAnyFamily)] = names;
    const Coefficients start = kind == kIterations ? priors_of_iterations(context) : Coefficients{};
    const Coefficients fitted = fit_coefficients(runs, names, {}, start);
    for (const auto& [family, of_family] : names_of_family) {
      Coefficients document = cut(fitted, family, of_family);
      const auto judged = held_out.find(claims_of(family));
      if (judged != held_out.end()) document.fit->held_out = judged->second;
      documents[family] = std::move(document);
    }
  }
  return documents;
}

}  // namespace sextant::inline lab
