#include <algorithm>
#include <cmath>

#include "calibrate/accuracy.h"
#include "core/json_value.h"
#include "documents/experiments.h"
#include "documents/explanation.h"
#include "lab/reproduce/reproduction.h"
#include "probes/fleet/compare/cluster_difference.h"
#include "sextant/coefficients.h"
#include "sextant/document.h"
#include "sextant/prediction.h"
#include "sextant/run.h"
#include "sextant/search.h"
#include "tests/fuzz/targets.h"

namespace sextant {
namespace {

// Values derived from an accepted document must be usable, not just stored.
void use(const Cluster& cluster) {
  const int devices = std::min(cluster.device_count(), 12);
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      const DeviceId first{from};
      const DeviceId last{cluster.device_count() - 1 - to};
      if (first == last) continue;
      const LinkRate& rate = cluster.link(first, last);
      SEXTANT_CHECK(rate.latency_s.value >= 0 && rate.bytes_per_s.value > 0);
    }
  }
}

void use(const Model& model) {
  SEXTANT_CHECK(model.parameters() > 0 && model.layer_flop(16).total() > 0);
  SEXTANT_CHECK(std::isfinite(model.parameters()));
}

void use(const Workflow& workflow) {
  SEXTANT_CHECK(workflow.sequences() >= 1);
  if (workflow.has_weight_sync()) SEXTANT_CHECK(workflow.model_of(workflow.actor_training()).layers >= 1);
  for (const Lengths& lengths : {workflow.prompt_tokens, workflow.response_tokens}) {
    SEXTANT_CHECK(lengths.mean_tokens() >= 0 && std::isfinite(lengths.mean_tokens()));
    SEXTANT_CHECK(lengths.max_tokens() >= 0);
  }
}

void use(const Plan& plan) {
  for (const auto& [name, task] : plan.tasks) {
    int sum = 0;
    for (const int count : replica_sequences(task, 1000)) sum += count;
    SEXTANT_CHECK(!task.devices().empty());
    SEXTANT_CHECK(sum == 1000);
  }
  SEXTANT_CHECK(plan.tasks.empty() == describe(plan).empty());
}

void use(const Runs& runs) {
  for (const Run& run : runs.runs) {
    SEXTANT_CHECK(run.iteration.empty() || run.iteration.median_s() > 0);
    use(runs.cluster_of(run));
  }
}

void use(const Experiments& all) {
  for (const Experiment& experiment : all.experiments) {
    SEXTANT_CHECK(all.workflows.contains(experiment.workflow) && all.plans.contains(experiment.plan));
  }
}

void use(const Coefficients& coefficients) {
  for (const CoefficientSpec& spec : coefficient_table()) {
    SEXTANT_CHECK(std::isfinite(coefficients.value(spec.id, "h100", "verl")));
  }
}

void use(const Prediction& prediction) { (void)prediction.fits(); }

void use(const Accuracy& accuracy) {
  for (const ComparedTime& time : accuracy.times) SEXTANT_CHECK(time.error_fraction() >= 0);
}

void use(const SearchRecord& search) {
  SEXTANT_CHECK(search.outcome != PlanOutcome::found || search.gap_fraction() >= 0);
}

void use(const Explanation& explanation) {
  SEXTANT_CHECK(explanation.iteration_s > 0 && std::isfinite(explanation.iteration_s));
  for (const Flip& flip : explanation.flips) SEXTANT_CHECK(std::isfinite(std::log(flip.factor)));
  for (const DeviceUse& device : explanation.devices) SEXTANT_CHECK(device.used <= device.devices);
  for (const Alternative& other : explanation.alternatives)
    SEXTANT_CHECK(other.outcome != PlanOutcome::found || other.ratio > 0);
}

void use(const ClusterDifference& difference) {
  std::size_t counted = 0;
  for (int verdict = 0; verdict < kChangeVerdictCount; ++verdict) {
    counted += difference.count(static_cast<ChangeVerdict>(verdict));
  }
  SEXTANT_CHECK(counted == difference.changes.size());
  for (const ValueChange& change : difference.changes) SEXTANT_CHECK(change.size() >= 0);
}

void use(const Reproduction& reproduction) {
  for (const ReproducedExperiment& experiment : reproduction.experiments) {
    for (const Comparison& comparison : experiment.comparisons)
      SEXTANT_CHECK(comparison.published_low <= comparison.published_high);
  }
}

template <typename T>
int accepts(std::string_view text) {
  Document<T> document;
  try {
    document = parse_document<T>(text);
  } catch (const Error& error) {
    SEXTANT_CHECK(error.kind() == ErrorKind::bad_input);
    return 0;
  }
  use(document.content);
  const std::string written = format_document(document);
  const auto again = parse_document<T>(written);
  SEXTANT_CHECK(again.content == document.content);
  SEXTANT_CHECK(again.provenance == document.provenance);
  SEXTANT_CHECK(format_document(again) == written);
  return 1;
}

}  // namespace

int accepts_documents(std::string_view text) {
  return accepts<Cluster>(text) + accepts<Model>(text) + accepts<Workflow>(text) + accepts<Plan>(text) +
         accepts<Runs>(text) + accepts<Experiments>(text) + accepts<Coefficients>(text) +
         accepts<Prediction>(text) + accepts<SearchRecord>(text) + accepts<Explanation>(text) +
         accepts<Reproduction>(text) + accepts<Accuracy>(text) + accepts<ClusterDifference>(text);
}

}  // namespace sextant
