// Plans side by side: their predicted times, and how surely one is faster.
//
// All plans are predicted with the same draws of the coefficients, so that what is uncertain about all of them alike
// does not count. Errors of the model itself are shared by plans that are alike and not by others: the table says how
// sure a difference is in both cases.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "ask/plan/plan_risk.h"
#include "ask/predict_question.h"
#include "cli/ask/inputs.h"
#include "cli/compare/comparison.h"
#include "cli/shared/notes.h"
#include "core/units.h"
#include "planner/explain/judge.h"
#include "sextant/predict.h"

namespace sextant::cli {
namespace {

constexpr int kDraws = 200;

struct ComparedPlan {
  Plan plan;
  Prediction prediction;
  std::map<std::string, std::vector<double>> times_s;  // by task and "iteration", for each draw
};

ComparedPlan compared_plan(const std::string& file, const LoadedInputs& loaded,
                           const CoefficientUncertainty& doubt) {
  const std::string& framework = loaded.chosen.framework;
  ComparedPlan out{load_plan_aloud(file, loaded), {}, {}};
  out.prediction =
      predict_with_trust({loaded.cluster, loaded.workflow, out.plan, loaded.chosen.coefficients, framework});
  for (const Coefficients& draw : doubt.draws) {
    const Prediction drawn = predict(loaded.cluster, loaded.workflow, out.plan, draw, framework);
    out.times_s["iteration"].push_back(drawn.iteration_s);
    for (const auto& [name, task] : drawn.tasks) out.times_s[name].push_back(task.time_s);
  }
  return out;
}

// From what plans alike share all errors of the model to what they share none.
std::string sureness_of(const Chance& chance) {
  return shown_sureness(chance.probability, chance.probability_with_model_error.value_or(chance.probability));
}

// The row of a time, with the chance that it differs from the first plan's.
ComparisonRow time_row(const std::string& name, const std::vector<ComparedPlan>& plans,
                       const std::function<double(const Prediction&)>& time_s,
                       const CoefficientUncertainty& doubt) {
  ComparisonRow row{name, {}};
  const double first_s = time_s(plans.front().prediction);
  for (const ComparedPlan& one : plans) {
    const double own_s = time_s(one.prediction);
    ComparedValue value{format_seconds(own_s), "", ""};
    if (&one != &plans.front()) {
      value.change = shown_change(first_s, own_s);
      const auto drawn = one.times_s.find(name), before = plans.front().times_s.find(name);
      const bool is_drawn = drawn != one.times_s.end() && before != plans.front().times_s.end();
      const auto chance =
          is_drawn ? chance_of(drawn->second, before->second, doubt.model_log_deviation) : std::nullopt;
      if (own_s != first_s) value.sure = chance ? sureness_of(*chance) : "not known";
    }
    row.values.push_back(std::move(value));
  }
  return row;
}

ComparisonRow text_row(const std::string& what, const std::vector<ComparedPlan>& plans,
                       const std::function<std::string(const ComparedPlan&)>& text) {
  ComparisonRow row{what, {}};
  for (const ComparedPlan& one : plans) row.values.push_back({text(one), "", ""});
  return row;
}

double fullest_fraction(const Prediction& prediction) {
  double most = 0;
  for (const DeviceMemory& device : prediction.memory)
    most = std::max(most, device.needed_bytes() / device.capacity_bytes);
  return most;
}

std::string shown_interval(const Prediction& prediction) {
  if (!prediction.iteration_interval_s) return "not known";
  return format_seconds(prediction.iteration_interval_s->low) + " to " +
         format_seconds(prediction.iteration_interval_s->high);
}

void add_layouts(const LoadedInputs& loaded, const std::vector<ComparedPlan>& plans, Comparison& out) {
  for (const Task& task : loaded.workflow.tasks) {
    out.rows.push_back(text_row(task.name + " layout", plans, [&](const ComparedPlan& one) {
      return describe(one.plan.tasks.at(task.name));
    }));
    std::map<std::string, bool> members;
    for (const ComparedPlan& one : plans) {
      const Json options = one.plan.tasks.at(task.name).execution.to_json();
      for (const auto& [member, value] : options.items()) members[member] = true;
    }
    for (const auto& [member, is_there] : members) {
      ComparisonRow row = text_row(task.name + " " + member, plans, [&](const ComparedPlan& one) {
        const Json options = one.plan.tasks.at(task.name).execution.to_json();
        return options.contains(member) ? options.at(member).dump() : std::string("-");
      });
      if (row.differs()) out.rows.push_back(std::move(row));
    }
  }
}

}  // namespace

Comparison compare_plans(const CompareOptions& options) {
  ModelInputs inputs = options.inputs;
  std::vector<std::string> notes;
  follow_plans(options.files, inputs, notes);
  const LoadedInputs loaded = load(inputs);
  say(notes);
  say(loaded.chosen.notes);
  const CoefficientUncertainty doubt = coefficient_uncertainty_of(loaded, kDraws, 1);
  std::vector<ComparedPlan> plans;
  Comparison out{"plan", short_names(options.files), {}, {}};
  for (const std::string& file : options.files) {
    plans.push_back(compared_plan(file, loaded, doubt));
  }
  out.rows.push_back(time_row(
      "iteration", plans, [](const Prediction& one) { return one.iteration_s; }, doubt));
  out.rows.push_back(
      text_row("90 % interval", plans, [](const ComparedPlan& one) { return shown_interval(one.prediction); }));
  for (const Task& task : loaded.workflow.tasks)
    out.rows.push_back(time_row(
        task.name, plans, [&](const Prediction& one) { return one.tasks.at(task.name).time_s; }, doubt));
  out.rows.push_back(time_row(
      "weight sync", plans, [](const Prediction& one) { return one.weight_sync_s; }, doubt));
  out.rows.push_back(text_row("memory of the fullest device", plans, [](const ComparedPlan& one) {
    return format_percent(fullest_fraction(one.prediction), 0) +
           (one.prediction.fits() ? "" : ", does not fit");
  }));
  out.rows.push_back(text_row("devices", plans, [](const ComparedPlan& one) {
    std::set<DeviceId> devices;
    for (const auto& [name, task] : one.plan.tasks) devices.merge(task.devices());
    return std::to_string(devices.size());
  }));
  out.rows.push_back(text_row("$ an iteration", plans, [&](const ComparedPlan& one) {
    const auto usd = usd_of(loaded.cluster, one.plan, one.prediction.iteration_s);
    return usd ? format_number(*usd) : std::string("no prices");
  }));
  out.rows.push_back(
      text_row("bottleneck", plans, [](const ComparedPlan& one) { return one.prediction.bottleneck; }));
  add_layouts(loaded, plans, out);
  if (doubt.draws.empty())
    out.notes.emplace_back("The coefficients state no errors, so it is not known how sure a change is.");
  return out;
}

}  // namespace sextant::cli
