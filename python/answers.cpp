#include "python/answers.h"

#include <utility>

#include "ask/coefficient_source.h"
#include "ask/document_source.h"
#include "ask/plan/plan_advice.h"
#include "ask/plan/plan_search.h"
#include "ask/plan/plan_standing.h"
#include "core/json_value.h"
#include "planner/explain/explain.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/provenance.h"

namespace sextant::python {
namespace {

template <typename T>
std::string text_of(const T& content) {
  return format_document(Document<T>{current_provenance(), content});
}

void add(const std::vector<std::string>& sentences, std::vector<std::string>& notes) {
  notes.insert(notes.end(), sentences.begin(), sentences.end());
}

std::string explained(const PlanInputs& asked, const PlanResult& result) {
  constexpr int kDraws = 400;  // as the command line
  const CoefficientUncertainty uncertainty =
      coefficient_uncertainty_of(asked.loaded, kDraws, asked.request.seed);
  return text_of(explain({asked.request, asked.planner, *result.plan, uncertainty}));
}

// Sentences that need short searches of their own.
void add_advice(const PlanCall& call, const PlanInputs& asked, const PlanResult& result,
                std::vector<std::string>& notes) {
  if (call.question.any_layout && asked.planner.traits.has_layout_rules)
    notes.push_back(cost_of_limits(asked, result));
  if (asked.planner.name != "portfolio") return;
  std::string faster = gain_of_synchronous(asked, asked.profile_in_force(call.question), result);
  if (!faster.empty()) notes.push_back(std::move(faster));
  std::string other = gain_of_another_batch(asked, asked.profile_in_force(call.question), result);
  if (!other.empty()) notes.push_back(std::move(other));
  std::string trainer = gain_of_another_trainer(call.question, asked, &result);
  if (!trainer.empty()) notes.push_back(std::move(trainer));
}

// Leaves answer_plan from inside its searches.
struct Cancelled {};

PlanOutput search_uncancelled(const Planner& planner, const PlanRequest& request) {
  PlanOutput output = search_once(planner, request);
  if (output.record.was_interrupted) throw Cancelled();
  return output;
}

PlanAnswer without_plan(const PlanOutput& output, const std::string& advice) {
  PlanAnswer answer;
  answer.message = output.result.message + advice;
  answer.search = text_of(output.record);
  return answer;
}

Json as_json(const JudgedTime& time) {
  Json json{{"what", time.what},
            {"measured_s", time.measured_s},
            {"predicted_s", time.predicted_s},
            {"is_outside", time.is_outside()}};
  if (time.interval_s) json["interval_s"] = {{"low", time.interval_s->low}, {"high", time.interval_s->high}};
  return json;
}

Json as_json(const CheckedRun& checked) {
  Json times = Json::array(), causes = Json::array(), gains = Json::array();
  for (const JudgedTime& time : checked.verdict.times) times.push_back(as_json(time));
  for (const LikelyCause& cause : checked.verdict.causes)
    causes.push_back({{"name", cause.name}, {"explained_fraction", cause.explained}});
  for (const Gain& gain : checked.verdict.gains)
    gains.push_back({{"name", gain.name}, {"seconds", gain.seconds}});
  std::vector<std::string> notes = checked.notes;
  for (const BeyondPeak& found : checked.verdict.impossible) notes.push_back(found.sentence() + ".");
  return {{"run", checked.run.name},   {"is_normal", checked.verdict.is_normal()},
          {"times", std::move(times)}, {"causes", std::move(causes)},
          {"gains", std::move(gains)}, {"notes", std::move(notes)}};
}

PlanAnswer planned(const PlanCall& call, const std::atomic<bool>& is_cancelled) {
  PlanInputs asked(call.question, load_inputs(call.question.inputs));
  asked.request.is_cancelled = &is_cancelled;
  PlanOutput output = search_as_asked(
      call.question, asked,
      {[&](const PlanRequest& request) { return search_uncancelled(asked.planner, request); }, true});
  complete_answer(call.question, asked, output);
  const PlanResult& result = output.result;
  if (result.outcome == PlanOutcome::too_large) throw_bad_input(result.message);
  if (result.outcome != PlanOutcome::found) {
    Advice advice = advice_without_plan(asked.request, asked.profile_in_force(call.question), output);
    if (!advice.plan) {
      if (asked.planner.name == "portfolio")
        advice.text += gain_of_another_trainer(call.question, asked, nullptr);
      return without_plan(output, advice.text);
    }
    take_plan(asked, std::move(*advice.plan), output);
    complete_answer(call.question, asked, output);
  }
  if (asked.planner.name == "portfolio") record_standing(call.question, asked, output);
  PlanAnswer answer;
  answer.is_found = true;
  answer.message = result.message;
  answer.plan = text_of(*result.plan);
  answer.prediction = text_of(*result.prediction);
  answer.search = text_of(output.record);
  answer.cluster = text_of(asked.loaded.cluster);
  answer.workflow = text_of(asked.loaded.workflow);
  for (const auto& [task, layout] : result.plan->tasks) answer.layouts[task] = describe(layout);
  answer.fits = result.prediction->fits();
  answer.notes = asked.loaded.chosen.notes;
  add(asked.notes, answer.notes);
  if (!output.warning.empty()) answer.notes.push_back(output.warning);
  add(output.record.standing, answer.notes);
  if (call.explains) answer.explanation = explained(asked, result);
  add_advice(call, asked, result, answer.notes);
  return answer;
}

}  // namespace

PlanAnswer answer_plan(const PlanCall& call, const std::atomic<bool>& is_cancelled) {
  try {
    return planned(call, is_cancelled);
  } catch (const Cancelled&) {
    return {};
  }
}

PredictAnswer answer_predict(const PredictCall& call) {
  require_plan(call.question);
  ModelInputs inputs = call.inputs;
  std::vector<std::string> notes;
  if (!call.question.plan.empty()) follow_plans({call.question.plan}, inputs, notes);
  const LoadedInputs loaded = load_inputs(inputs);
  PredictedPlan predicted = plan_in_question(call.question, loaded);
  predict_as_asked(call.question, loaded, predicted);
  add(loaded.chosen.notes, notes);
  return {text_of(predicted.prediction), text_of(predicted.plan), predicted.prediction.fits(),
          std::move(notes)};
}

CheckAnswer answer_check(const CheckCall& call) {
  LogRuns read = read_runs(call.logs);
  Json verdicts = Json::array();
  check_runs(call.question, read.imported.runs,
             [&](const CheckedRun& checked) { verdicts.push_back(as_json(checked)); });
  std::vector<std::string> notes = std::move(read.notes);
  for (std::string& line : left_out_lines(read.imported)) notes.push_back(std::move(line));
  return {format_json(verdicts), std::move(notes)};
}

CalibrateAnswer answer_calibrate(const CalibrateCall& call) {
  const Runs runs = document_of<Runs>(call.runs);
  if (runs.runs.empty()) throw_bad_input(source_name<Runs>(call.runs) + ": /runs: no runs to fit");
  NamedCoefficients start;
  if (!call.start.empty()) start = load_coefficients_for(call.start, runs);
  std::vector<std::string> names;
  for (const Run& run : runs.runs) names.push_back(run.name);
  return {text_of(fit_as_asked(call.fit, runs, names, start.coefficients)), std::move(start.notes)};
}

}  // namespace sextant::python
