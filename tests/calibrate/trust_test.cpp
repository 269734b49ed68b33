#include "sextant/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrate/cross_validation.h"
#include "calibrate/familiarity.h"
#include "calibrate/fit_result.h"
#include "calibrate/posterior.h"
#include "core/json_value.h"
#include "costmodel/hardware_numbers.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {
namespace {

// Fitted to 48 of the 64 synthetic runs with noise; the last four workflows are new to it.
struct Fitted {
  Runs all = synthetic_runs(synthetic_truth(), kNoise, 11);
  std::vector<std::string> seen, unseen;
  Coefficients coefficients;

  static constexpr double kNoise = 0.05;

  Fitted() {
    for (const sextant::Run& run : all.runs) {
      const bool last = std::stoi(run.workflow.substr(run.workflow.rfind('-') + 1)) >= 12;
      (last ? unseen : seen).push_back(run.name);
    }
    coefficients = fit_coefficients(all, seen);
  }

  [[nodiscard]] PredictionQuery ask(const sextant::Run& run) const {
    return {all.cluster_of(run), all.workflow_of(run), all.plan_of(run), coefficients, run.framework};
  }
};

const Fitted& fitted() {
  static const Fitted one;
  return one;
}

const sextant::Run& run_named(const std::string& name) {
  return *std::find_if(fitted().all.runs.begin(), fitted().all.runs.end(),
                       [&](const sextant::Run& run) { return run.name == name; });
}

// The document holds the posterior: what is read from it is what the fit had.
TEST(Posterior, SurvivesTheDocument) {
  const std::vector<PreparedRun> prepared = prepare(fitted().all, fitted().seen);
  std::vector<const PreparedRun*> pointers;
  pointers.reserve(prepared.size());
  for (const PreparedRun& run : prepared) pointers.push_back(&run);
  const FitResult result = fit_prepared(fitted().all, pointers);
  const Coefficients read = Coefficients::parse(JsonView(result.coefficients.to_json()));
  const std::vector<double> before = result.posterior.log_variances(prepared.front());
  const std::vector<double> after = posterior_of(read)->log_variances(prepared.front());
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t t = 0; t < before.size(); ++t) EXPECT_NEAR(after[t] / before[t], 1, 1e-6);
}

TEST(Posterior, DeviationsAreTheStandardErrors) {
  const Posterior posterior = *posterior_of(fitted().coefficients);
  for (std::size_t p = 0; p < fitted().coefficients.values.size(); ++p) {
    const Coefficient& c = fitted().coefficients.values[p];
    if (spec_of(c.id).scale != CoefficientScale::logarithmic) continue;
    // Directions that hardly learned anything are dropped: at most 0.5 % of the variance is lost to each.
    EXPECT_NEAR(posterior.deviation_of(static_cast<int>(p)) / *c.standard_error, 1, 0.02) << spec_of(c.id).name;
  }
}

TEST(Posterior, InfluencesSumToTheVariance) {
  const std::vector<PreparedRun> prepared = prepare(fitted().all, {fitted().unseen.front()});
  const Posterior posterior = *posterior_of(fitted().coefficients);
  double sum = 0;
  for (const Posterior::Influence& influence : posterior.influences(prepared.front(), 0))
    sum += influence.variance;
  EXPECT_NEAR(sum / posterior.log_variances(prepared.front())[0], 1, 1e-9);
}

TEST(Trust, IntervalsCoverNewRuns) {
  int inside = 0, all = 0;
  for (const std::string& name : fitted().unseen) {
    const sextant::Run& run = run_named(name);
    const Prediction prediction = predict_with_trust(fitted().ask(run));
    const auto count = [&](double measured, const Interval& interval) {
      ++all;
      inside += interval.low <= measured && measured <= interval.high ? 1 : 0;
    };
    count(run.iteration.median_s(), *prediction.iteration_interval_s);
    for (const auto& [task, timing] : run.tasks) {
      count(timing.median_s(),
            task == kWeightSync ? *prediction.weight_sync_interval_s : *prediction.tasks.at(task).interval_s);
    }
  }
  // 64 times, nine of ten asked: three standard deviations of that count.
  EXPECT_GE(inside, all - static_cast<int>(0.1 * all + 3 * std::sqrt(0.09 * all)));
}

TEST(Trust, TheIntervalIsThatOfTheCoefficientsAndOfTheModelTogether) {
  Coefficients coefficients = fitted().coefficients;
  coefficients.fit->held_out.emplace().left_out = "run";
  coefficients.fit->held_out->iterations = 1;
  coefficients.fit->held_out->iteration_log_deviation = 0.1;
  const std::vector<PreparedRun> prepared = prepare(fitted().all, {fitted().unseen.front()});
  const std::vector<MeasuredTime>& times = prepared.front().times();
  const auto iteration =
      std::find_if(times.begin(), times.end(), [](const MeasuredTime& time) { return time.is_iteration(); });
  ASSERT_NE(iteration, times.end());
  const double variance =
      posterior_of(coefficients)
          ->log_variances(prepared.front())[static_cast<std::size_t>(iteration - times.begin())];
  const PredictionQuery asked = fitted().ask(run_named(fitted().unseen.front()));
  const Prediction prediction =
      predict_with_trust({asked.cluster, asked.workflow, asked.plan, coefficients, asked.framework});
  const double factor = std::exp(1.6449 * std::sqrt(variance + 0.1 * 0.1));
  EXPECT_NEAR(prediction.iteration_interval_s->high / prediction.iteration_s, factor, 1e-9);
  EXPECT_NEAR(prediction.iteration_s / prediction.iteration_interval_s->low, factor, 1e-9);
}

// Deviations that calibrate/trust.cpp states.
TEST(Trust, MemoryHasAnIntervalAndAProbabilityOfFitting) {
  const PredictionQuery asked = fitted().ask(run_named(fitted().unseen.front()));
  const Coefficients nobodys;
  const Prediction usual = predict_with_trust({asked.cluster, asked.workflow, asked.plan, nobodys, kAny});
  const DeviceMemory& device = usual.memory.front();
  const double factor = std::exp(1.6449 * 0.1);
  EXPECT_NEAR(device.trust->needed_bytes.high / device.needed_bytes(), factor, 1e-4);
  EXPECT_NEAR(device.needed_bytes() / device.trust->needed_bytes.low, factor, 1e-4);
  const double deviations = std::log(device.capacity_bytes / device.needed_bytes()) / 0.1;
  EXPECT_NEAR(device.trust->fit_probability, 0.5 * std::erfc(-deviations / std::sqrt(2)), 1e-6);
  // A fit that saw peaks of memory knows its own spread, and the coefficients add theirs.
  Coefficients coefficients = fitted().coefficients;
  coefficients.fit->held_out.emplace().left_out = "run";
  coefficients.fit->held_out->memories = 10;
  const auto width = [&](double model) {
    coefficients.fit->held_out->memory_log_deviation = model;
    const Prediction known =
        predict_with_trust({asked.cluster, asked.workflow, asked.plan, coefficients, asked.framework});
    const DeviceMemory& memory = known.memory.front();
    return std::log(memory.trust->needed_bytes.high / memory.needed_bytes());
  };
  const double narrow = width(0.05), wide = width(0.3);
  EXPECT_GT(wide, 1.64 * 0.3);
  EXPECT_NEAR(wide * wide - narrow * narrow, 1.6449 * 1.6449 * (0.3 * 0.3 - 0.05 * 0.05), 1e-3);
}

// With a KV cache of half the device, which engines allocate to the byte, only the other half's need is
// uncertain: 0.1 of it, not of all. An engine that sleeps holds the cache alone while it runs.
TEST(Trust, AKvCacheOfStatedSizeHasNoError) {
  const PredictionQuery known = fitted().ask(run_named(fitted().unseen.front()));
  Plan plan = known.plan;
  const auto generation = std::find_if(known.workflow.tasks.begin(), known.workflow.tasks.end(),
                                       [](const Task& task) { return task.kind == TaskKind::generation; });
  ASSERT_NE(generation, known.workflow.tasks.end());
  const Coefficients nobodys;
  const DeviceId device = *plan.tasks.at(generation->name).devices().begin();
  const double capacity = known.cluster.type_of(device).memory_bytes.value;
  const auto memory_of = [&](double cache) {
    plan.tasks.at(generation->name).execution.kv_cache_bytes = cache;
    const Prediction prediction = predict_with_trust({known.cluster, known.workflow, plan, nobodys, kAny});
    return *std::find_if(prediction.memory.begin(), prediction.memory.end(),
                         [&](const DeviceMemory& memory) { return memory.device == device; });
  };
  const double little = 1;  // byte, so that no cache is predicted
  const DeviceMemory without = memory_of(little);
  const double cache = 0.5 * capacity;
  const DeviceMemory with = memory_of(cache);
  ASSERT_NEAR(with.needed_bytes() - without.needed_bytes(), cache, 1);
  const double factor = std::exp(1.6449 * 0.1);
  EXPECT_NEAR(with.trust->needed_bytes.high / (cache + factor * without.needed_bytes()), 1, 1e-4);
  EXPECT_NEAR(with.trust->needed_bytes.low / (cache + without.needed_bytes() / factor), 1, 1e-4);
  const double deviations = std::log((capacity - cache) / without.needed_bytes()) / 0.1;
  EXPECT_NEAR(with.trust->fit_probability, 0.5 * std::erfc(-deviations / std::sqrt(2)), 1e-6);
  const std::optional<MemoryRisk> risk = memory_risk_of({known.cluster, known.workflow, plan, nobodys, kAny});
  ASSERT_TRUE(risk);
  EXPECT_GE(risk->probability, 1 - with.trust->fit_probability);
  EXPECT_NEAR(risk->log_deviation, 0.1, 1e-12);
  // The risk is that of the device that fits least surely; here the best estimate fills that device.
  (void)memory_of(capacity - without.needed_bytes());
  double least = 1;
  for (const DeviceMemory& memory :
       predict_with_trust({known.cluster, known.workflow, plan, nobodys, kAny}).memory)
    least = std::min(least, memory.trust->fit_probability);
  const auto of_full = memory_risk_of({known.cluster, known.workflow, plan, nobodys, kAny});
  EXPECT_NEAR(of_full->probability, 1 - least, 1e-9);
  EXPECT_GT(of_full->probability, 0.4);
}

// The prediction of a run that the fit saw, by coefficients of another fit with several frameworks.
Prediction asked_for(const std::string& framework, const Coefficients& coefficients,
                     Orchestration orchestration = Orchestration::controller) {
  const PredictionQuery known = fitted().ask(run_named(fitted().seen[10]));
  Workflow workflow = known.workflow;
  workflow.orchestration = orchestration;
  return predict_with_trust({known.cluster, workflow, known.plan, coefficients, framework});
}

// Restricted to what is for all frameworks: its experience still says that there were several.
Coefficients of_two_frameworks() {
  Coefficients coefficients = fitted().coefficients;
  TaskExperience other = coefficients.fit->experience.front();
  other.framework = "other";
  coefficients.fit->experience.push_back(other);
  return coefficients;
}

double width(const Interval& interval) { return std::log(interval.high / interval.low); }

TEST(Trust, AnUnknownFrameworkWidensIntervalsByWhatFrameworksDiffer) {
  const double known = width(*asked_for("synthetic", fitted().coefficients).iteration_interval_s);
  EXPECT_DOUBLE_EQ(width(*asked_for(std::string(kAny), fitted().coefficients).iteration_interval_s), known);
  EXPECT_GT(width(*asked_for("mine", fitted().coefficients).iteration_interval_s), 1.05 * known);
  // If several were shown, none of their own values is left: no framework is known.
  for (const std::string framework : {"synthetic", "mine", "*"}) {
    EXPECT_GT(width(*asked_for(framework, of_two_frameworks()).iteration_interval_s), 1.05 * known)
        << framework;
  }
}

TEST(Trust, AnUnknownFrameworkMayHaveNoController) {
  Coefficients coefficients = fitted().coefficients;
  for (Coefficient& entry : coefficients.values) {
    if (entry.id == CoefficientId::iteration_overhead_s) entry.value = 1e4;
  }
  const Prediction loop = asked_for("mine", coefficients, Orchestration::loop);
  const Prediction unknown = asked_for("mine", coefficients), known = asked_for("synthetic", coefficients);
  EXPECT_GT(unknown.iteration_s, 1e4);
  EXPECT_LT(loop.iteration_s, 1e3);
  EXPECT_DOUBLE_EQ(unknown.iteration_interval_s->low, loop.iteration_interval_s->low);
  EXPECT_GT(unknown.iteration_interval_s->high, 1e4);
  EXPECT_GT(known.iteration_interval_s->low, 1e3);
}

TEST(Trust, IntervalsGrowOutsideOfWhatWasCalibrated) {
  Coefficients coefficients = fitted().coefficients;
  const sextant::Run& run = run_named(fitted().seen[10]);
  const PredictionQuery known = fitted().ask(run);
  const auto variance = [&](double deviation) {
    coefficients.fit->task_log_deviation = deviation;
    const Prediction prediction =
        predict_with_trust({known.cluster, known.workflow, known.plan, coefficients, known.framework});
    return std::pow(width(*prediction.tasks.at("actor_training").interval_s) / (2 * 1.6449), 2);
  };
  // The spread of reruns counts as three runs more.
  const auto runs = static_cast<double>(coefficients.fit->runs.size());
  const double counted = runs / (runs + 3);
  const auto of_the_model = [&] { return (variance(0.5) - variance(0.3)) / counted; };
  EXPECT_NEAR(of_the_model(), 0.16, 1e-4);
  const std::vector<PreparedRun> prepared = prepare(fitted().all, {run.name});
  const double parameters = experience_of(prepared.front()).front().parameters;
  for (TaskExperience& task : coefficients.fit->experience) task.parameters = parameters / 4;  // a step below
  EXPECT_NEAR(of_the_model(), 2 * 0.16, 1e-4);
  for (TaskExperience& task : coefficients.fit->experience) task.parameters = parameters * 16;  // two above
  EXPECT_NEAR(of_the_model(), 3 * 0.16, 1e-4);
}

// From public runs, say, whose held-out errors were a fifth, and then one run of one's own.
Coefficients fitted_to_one_run_more(const sextant::Run& run) {
  Coefficients start = fitted().coefficients;
  start.fit->held_out.emplace().left_out = "model";
  start.fit->held_out->tasks = start.fit->held_out->iterations = 20;
  start.fit->held_out->task_log_deviation = start.fit->held_out->iteration_log_deviation = 0.2;
  return fit_coefficients(fitted().all, {run.name}, {}, start);
}

double width_by(const sextant::Run& run, const Coefficients& coefficients) {
  const PredictionQuery known = fitted().ask(run);
  return width(*predict_with_trust({known.cluster, known.workflow, known.plan, coefficients, known.framework})
                    .iteration_interval_s);
}

TEST(Trust, OneRunSaysLittleOfPlansFarFromIt) {
  const sextant::Run& run = run_named(fitted().seen[10]);
  const Coefficients mine = fitted_to_one_run_more(run);
  ASSERT_TRUE(mine.fit->started_from);
  EXPECT_EQ(*mine.fit->started_from, (ModelDeviations{0.2, 0.2, 0}));
  const double of_the_model = 2 * 1.6449 * 0.2;
  // The same plan: narrower than what the model leaves elsewhere, but as wide as reruns differ.
  EXPECT_LT(width_by(run, mine), 0.7 * of_the_model);
  EXPECT_GT(width_by(run, mine), 2 * 1.6449 * 0.05);
  // Sixteen times the model, as far as the fit knows.
  Coefficients far = mine;
  for (TaskExperience& task : far.fit->experience) task.parameters /= 16;
  EXPECT_GT(width_by(run, far), of_the_model);
  // A third fit is told what this one knew of the model far from its runs.
  const Coefficients next = fit_coefficients(fitted().all, {fitted().seen.front()}, {}, mine);
  EXPECT_GT(next.fit->started_from->iteration, 0.2);
}

TEST(Trust, WithoutAFitThereIsNoInterval) {
  const sextant::Run& run = fitted().all.runs.front();
  Coefficients bare = fitted().coefficients;
  bare.fit.reset();
  PredictionQuery asked = fitted().ask(run);
  const Prediction prediction =
      predict_with_trust({asked.cluster, asked.workflow, asked.plan, bare, asked.framework});
  EXPECT_FALSE(prediction.iteration_interval_s.has_value());
  EXPECT_FALSE(prediction.tasks.begin()->second.familiarity.has_value());
}

TEST(Trust, ARunOfTheFitIsItsOwnNearest) {
  const sextant::Run& run = run_named(fitted().seen[10]);
  const Prediction prediction = predict_with_trust(fitted().ask(run));
  EXPECT_FALSE(prediction.extrapolating());
  for (const auto& [name, task] : prediction.tasks) EXPECT_EQ(task.familiarity->distance, 0) << name;
}

TEST(Trust, FarLengthsAreExtrapolating) {
  const sextant::Run& run = run_named(fitted().seen[10]);
  Workflow workflow = fitted().all.workflow_of(run);
  workflow.prompt_tokens = fixed_length(100'000);
  const PredictionQuery near = fitted().ask(run);
  const Prediction prediction =
      predict_with_trust({near.cluster, workflow, near.plan, near.coefficients, near.framework});
  EXPECT_TRUE(prediction.extrapolating());
  EXPECT_NE(prediction.tasks.at("actor_training").familiarity->reasons.front().find("tokens in a sequence"),
            std::string::npos);
}

TEST(Sensitivities, ShareTheVarianceOfAFit) {
  const PredictionQuery asked = fitted().ask(run_named(fitted().seen[5]));
  double sum = 0;
  for (const Sensitivity& sensitivity : sensitivities_of(asked)) {
    EXPECT_NE(sensitivity.variance_share.has_value(), sensitivity.is_hardware) << sensitivity.name;
    sum += sensitivity.variance_share.value_or(0);
  }
  EXPECT_NEAR(sum, 1, 1e-6);  // those of next to no influence are left out
  Coefficients unfitted = asked.coefficients;
  unfitted.fit.reset();
  for (const Sensitivity& sensitivity :
       sensitivities_of({asked.cluster, asked.workflow, asked.plan, unfitted, asked.framework}))
    EXPECT_FALSE(sensitivity.variance_share);
}

TEST(Sensitivities, AgreeWithAStepInTheCoefficient) {
  const sextant::Run& run = run_named(fitted().seen[5]);
  const PredictionQuery asked = fitted().ask(run);
  const std::vector<Sensitivity> all = sensitivities_of(asked);
  const auto found = std::find_if(all.begin(), all.end(), [](const Sensitivity& sensitivity) {
    return sensitivity.name == "training_efficiency";
  });
  ASSERT_NE(found, all.end());
  constexpr double kStep = 1e-4;
  const auto at = [&](double step) {
    Coefficients changed = asked.coefficients;
    for (Coefficient& c : changed.values) {
      if (c.id == CoefficientId::training_efficiency) c.value *= std::exp(step);
    }
    return std::log(
        predict_with_trust({asked.cluster, asked.workflow, asked.plan, changed, asked.framework}).iteration_s);
  };
  EXPECT_NEAR(found->elasticity, (at(kStep) - at(-kStep)) / (2 * kStep), 1e-5);
  EXPECT_LT(found->elasticity, 0);
}

// A model that only computes on one device takes half the time on twice the rate, less what is no arithmetic.
TEST(Sensitivities, OfHardwareAreElasticities) {
  const sextant::Run& run = run_named("workflow-3-111");
  const PredictionQuery asked = fitted().ask(run);
  double sum = 0;
  for (const Sensitivity& sensitivity :
       hardware_sensitivities(asked.cluster, asked.workflow, asked.plan, {}, kAny)) {
    EXPECT_TRUE(sensitivity.is_hardware);
    EXPECT_NE(sensitivity.name, "link_bytes_per_s");  // one device alone
    sum += sensitivity.elasticity;
  }
  // With neutral coefficients all time is FLOP or bytes of that device.
  EXPECT_NEAR(sum, -1, 1e-6);
}

TEST(HardwareNumbers, ScaleOneThingAlone) {
  const Cluster cluster = two_cores();
  for (const HardwareNumber& number : hardware_numbers(cluster)) {
    const Cluster twice = with_scaled(cluster, number, 2);
    EXPECT_FALSE(twice == cluster) << number.name;
    EXPECT_EQ(with_scaled(twice, number, 0.5), cluster) << number.name;
  }
}

TEST(CrossValidation, GroupsAreDealtToFewFolds) {
  const Runs& runs = fitted().all;
  const auto key = group_key(runs, LeaveOut::workflow);
  const std::vector<Fold> folds = leave_groups_out(runs, key, 5, 1);
  ASSERT_EQ(folds.size(), 5U);
  std::size_t held_out = 0;
  for (const Fold& fold : folds) {
    held_out += fold.held_out.size();
    for (const std::string& name : fold.held_out) {
      for (const std::string& other : fold.fit) EXPECT_NE(run_named(name).workflow, run_named(other).workflow);
    }
  }
  EXPECT_EQ(held_out, runs.runs.size());
}

TEST(CrossValidation, SummaryHoldsTheNoise) {
  const Runs& runs = fitted().all;
  const std::vector<Fold> folds = leave_groups_out(runs, group_key(runs, LeaveOut::workflow), 4, 1);
  const HeldOutSummary summary = summary_of(runs, cross_validate(runs, folds), LeaveOut::workflow);
  EXPECT_EQ(summary.left_out, "workflow");
  EXPECT_EQ(summary.iterations, 64);
  // The model is the truth, so what is left is the noise that was put in.
  EXPECT_NEAR(summary.task_log_deviation, Fitted::kNoise, 0.5 * Fitted::kNoise);
  EXPECT_GT(summary.coverage_90, 0.8);
  // Four layouts of every workflow, and 3 % of noise.
  ASSERT_TRUE(summary.order.has_value());
  EXPECT_EQ(summary.order->groups, 16);
  EXPECT_EQ(summary.order->pairs, 16 * 6);
  EXPECT_GT(summary.order->kendall_tau, 0.8);
  EXPECT_LE(summary.order->mean_regret_fraction, summary.order->worst_regret_fraction);
  EXPECT_LT(summary.order->worst_regret_fraction, 4 * Fitted::kNoise);
  EXPECT_EQ(summary.memories, 0);
}

// A copy of the run that uses the first `devices` devices of a cluster with so many.
void add_copy(Runs& runs, const sextant::Run& original, int devices) {
  Cluster& cluster = runs.clusters["many-cores"];
  if (cluster.nodes().empty()) {
    Node node = runs.cluster_of(original).nodes().front();
    node.devices = 64;
    cluster = Cluster("many-cores", runs.cluster_of(original).device_types(), {node},
                      {{LinkLevel::within_node, {assumed(1e-6), assumed(8e9)}}});
  }
  const Workflow& workflow = runs.workflow_of(original);
  sextant::Run copy = original;
  copy.name = copy.plan = "on-" + std::to_string(devices);
  copy.cluster = "many-cores";
  runs.plans[copy.plan] = synthetic_plan(workflow, devices, 1, 1, 1);
  runs.runs.push_back(copy);
}

TEST(CrossValidation, ScalesAreBandsOfPowersOfTwo) {
  Runs runs = fitted().all;
  const sextant::Run original = runs.runs.front();
  runs.runs.clear();
  for (const int devices : {1, 2, 3, 4, 7, 8, 15, 16}) add_copy(runs, original, devices);
  const auto scale = group_key(runs, LeaveOut::scale);
  std::vector<std::string> scales;
  for (const sextant::Run& run : runs.runs) scales.push_back(scale(run));
  EXPECT_EQ(scales, (std::vector<std::string>{"1 device", "2 to 3 devices", "2 to 3 devices", "4 to 7 devices",
                                              "4 to 7 devices", "8 to 15 devices", "8 to 15 devices",
                                              "16 to 31 devices"}));
}

// The layouts of one core are predicted by fits to those of two, and the other way round.
TEST(CrossValidation, AScaleIsPredictedFromTheOthers) {
  const Runs& runs = fitted().all;
  const std::vector<Fold> folds = leave_one_out(runs, group_key(runs, LeaveOut::scale));
  ASSERT_EQ(folds.size(), 2U);
  EXPECT_EQ(folds[0].name, "1 device");
  EXPECT_EQ(folds[0].held_out.size(), 16U);
  EXPECT_EQ(folds[1].held_out.size(), 48U);
  for (const std::string& name : folds[0].held_out) EXPECT_TRUE(name.ends_with("-111")) << name;
  for (const std::string& name : folds[0].fit) EXPECT_FALSE(name.ends_with("-111")) << name;
  EXPECT_EQ(summary_of(runs, cross_validate(runs, folds), LeaveOut::scale).left_out, "scale");
}

}  // namespace
}  // namespace sextant::test
