#include "lab/reproduce/reproduction.h"

#include <algorithm>

#include "core/json_value.h"
#include "sextant/search.h"

namespace sextant {
namespace {

Term parse_term(const JsonView& view) {
  std::vector<std::string_view> names;
  names.reserve(kTermCount);
  for (int term = 0; term < kTermCount; ++term) names.push_back(name_of(static_cast<Term>(term)));
  return static_cast<Term>(view.one_of(names));
}

ReproducedTask parse_task(const JsonView& view) {
  view.allow_only({"time_s", "exposed_s", "largest_term", "largest_term_s"});
  return {view.required("time_s").non_negative(), view.required("exposed_s").non_negative(),
          parse_term(view.required("largest_term")), view.required("largest_term_s").non_negative()};
}

Json to_json_of(const ReproducedTask& task) {
  return {{"time_s", task.time_s},
          {"exposed_s", task.exposed_s},
          {"largest_term", name_of(task.largest_term)},
          {"largest_term_s", task.largest_term_s}};
}

ReproducedPlan parse_without_plan(const JsonView& view) {
  view.allow_only({"name", "planner", "problem"});
  ReproducedPlan plan;
  plan.name = view.required("name").text();
  plan.planner = view.required("planner").any_text();
  plan.problem = view.required("problem").text();
  return plan;
}

ReproducedPlan parse_plan(const JsonView& view) {
  if (view.optional("problem")) return parse_without_plan(view);
  view.allow_only({"name", "planner", "layout", "iteration_s", "sequences_per_s", "tokens_per_s",
                   "weight_sync_s", "usd_per_hour", "candidates", "found_s", "tasks"});
  ReproducedPlan plan;
  plan.name = view.required("name").text();
  plan.planner = view.required("planner").any_text();
  plan.layout = view.required("layout").text();
  plan.iteration_s = view.required("iteration_s").positive();
  plan.sequences_per_s = view.required("sequences_per_s").positive();
  plan.tokens_per_s = view.required("tokens_per_s").positive();
  plan.weight_sync_s = view.required("weight_sync_s").non_negative();
  plan.usd_per_hour = view.required("usd_per_hour").non_negative();
  if (const auto candidates = view.optional("candidates"))
    plan.candidates = static_cast<std::uint64_t>(candidates->integer(1, SearchRecord::kMaxCount));
  plan.found_s = view.required("found_s").non_negative();
  for (const auto& [name, task] : view.required("tasks").members()) plan.tasks[name] = parse_task(task);
  return plan;
}

Json to_json_of(const ReproducedPlan& plan) {
  Json json{{"name", plan.name}, {"planner", plan.planner}};
  if (!plan.has_plan()) {
    json["problem"] = plan.problem;
    return json;
  }
  json["layout"] = plan.layout;
  json["iteration_s"] = plan.iteration_s;
  json["sequences_per_s"] = plan.sequences_per_s;
  json["tokens_per_s"] = plan.tokens_per_s;
  json["weight_sync_s"] = plan.weight_sync_s;
  json["usd_per_hour"] = plan.usd_per_hour;
  if (plan.candidates > 0) json["candidates"] = plan.candidates;
  json["found_s"] = plan.found_s;
  json["tasks"] = Json::object();
  for (const auto& [name, task] : plan.tasks) json["tasks"][name] = to_json_of(task);
  return json;
}

ReproducedCell parse_cell(const JsonView& view) {
  view.allow_only({"name", "cluster", "devices", "plans", "lower_bound_s"});
  ReproducedCell cell;
  cell.name = view.required("name").text();
  cell.cluster = view.required("cluster").text();
  cell.devices = view.required("devices").count(1);
  if (const auto bound = view.optional("lower_bound_s")) cell.lower_bound_s = bound->positive();
  for (const JsonView& plan : view.required("plans").items()) cell.plans.push_back(parse_plan(plan));
  return cell;
}

Json to_json_of(const ReproducedCell& cell) {
  Json plans = Json::array();
  for (const ReproducedPlan& plan : cell.plans) plans.push_back(to_json_of(plan));
  Json json{
      {"name", cell.name}, {"cluster", cell.cluster}, {"devices", cell.devices}, {"plans", std::move(plans)}};
  if (cell.lower_bound_s) json["lower_bound_s"] = *cell.lower_bound_s;
  return json;
}

Comparison parse_comparison(const JsonView& view) {
  view.allow_only(
      {"group", "cell", "source", "unit", "ours", "published_low", "published_high", "agrees", "sentence"});
  Comparison comparison;
  comparison.group = view.required("group").text();
  comparison.cell = view.required("cell").text();
  comparison.source = view.required("source").text();
  comparison.unit = view.required("unit").text();
  if (const auto ours = view.optional("ours")) comparison.ours = ours->non_negative();
  comparison.published_low = view.required("published_low").non_negative();
  comparison.published_high = view.required("published_high").positive();
  if (comparison.published_high < comparison.published_low)
    view.required("published_high").fail("less than published_low");
  comparison.agrees = view.required("agrees").flag();
  comparison.sentence = view.required("sentence").any_text();
  if (comparison.agrees != comparison.sentence.empty())
    view.required("sentence").fail("expected one where the figures disagree, and only there");
  return comparison;
}

Json to_json_of(const Comparison& comparison) {
  Json json{{"group", comparison.group},
            {"cell", comparison.cell},
            {"source", comparison.source},
            {"unit", comparison.unit}};
  if (comparison.ours) json["ours"] = *comparison.ours;
  json["published_low"] = comparison.published_low;
  json["published_high"] = comparison.published_high;
  json["agrees"] = comparison.agrees;
  json["sentence"] = comparison.sentence;
  return json;
}

Cause parse_cause(const JsonView& view) {
  view.allow_only({"group", "sentence"});
  return {view.required("group").text(), view.required("sentence").text()};
}

ReproducedExperiment parse_experiment(const JsonView& view) {
  view.allow_only({"name", "paper", "coefficients", "framework", "assumptions", "cells", "comparisons",
                   "causes", "contradictions"});
  ReproducedExperiment experiment;
  experiment.name = view.required("name").text();
  experiment.paper = view.required("paper").text();
  experiment.coefficients = view.required("coefficients").text();
  experiment.framework = view.required("framework").text();
  for (const JsonView& sentence : view.required("assumptions").items())
    experiment.assumptions.push_back(sentence.text());
  for (const JsonView& cell : view.required("cells").items()) experiment.cells.push_back(parse_cell(cell));
  for (const JsonView& one : view.required("comparisons").items())
    experiment.comparisons.push_back(parse_comparison(one));
  for (const JsonView& one : view.required("causes").items()) experiment.causes.push_back(parse_cause(one));
  for (const JsonView& sentence : view.required("contradictions").items())
    experiment.contradictions.push_back(sentence.text());
  return experiment;
}

Json to_json_of(const ReproducedExperiment& experiment) {
  Json cells = Json::array(), comparisons = Json::array(), causes = Json::array();
  for (const ReproducedCell& cell : experiment.cells) cells.push_back(to_json_of(cell));
  for (const Comparison& one : experiment.comparisons) comparisons.push_back(to_json_of(one));
  for (const Cause& one : experiment.causes)
    causes.push_back({{"group", one.group}, {"sentence", one.sentence}});
  return {{"name", experiment.name},
          {"paper", experiment.paper},
          {"coefficients", experiment.coefficients},
          {"framework", experiment.framework},
          {"assumptions", experiment.assumptions},
          {"cells", std::move(cells)},
          {"comparisons", std::move(comparisons)},
          {"causes", std::move(causes)},
          {"contradictions", experiment.contradictions}};
}

}  // namespace

Reproduction Reproduction::parse(const JsonView& view) {
  view.allow_only({"budget_s", "seed", "threads", "was_interrupted", "experiments"});
  Reproduction reproduction;
  reproduction.budget_s = view.required("budget_s").positive();
  reproduction.seed = static_cast<std::uint64_t>(view.required("seed").integer(0, SearchRecord::kMaxCount));
  reproduction.threads = view.required("threads").count(1);
  reproduction.was_interrupted = view.required("was_interrupted").flag();
  for (const JsonView& experiment : view.required("experiments").items())
    reproduction.experiments.push_back(parse_experiment(experiment));
  return reproduction;
}

Json Reproduction::to_json() const {
  Json all = Json::array();
  for (const ReproducedExperiment& experiment : experiments) all.push_back(to_json_of(experiment));
  return {{"budget_s", budget_s},
          {"seed", seed},
          {"threads", threads},
          {"was_interrupted", was_interrupted},
          {"experiments", std::move(all)}};
}

}  // namespace sextant
