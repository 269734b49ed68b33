#include "lab/reproduce/reproduction.h"

#include "documents/values/fields.h"
#include "sextant/search.h"

namespace sextant::inline lab {
namespace {

Kind<Term> term() {
  return {[](const JsonView& view) {
            std::vector<std::string_view> names;
            for (int term = 0; term < kTermCount; ++term) names.push_back(name_of(static_cast<Term>(term)));
            return static_cast<Term>(view.one_of(names));
          },
          [](const Term& term) { return Json(name_of(term)); }, nullptr};
}

Kind<std::uint64_t> whole_number(std::int64_t minimum) {
  return {[=](const JsonView& view) {
            return static_cast<std::uint64_t>(view.integer(minimum, SearchRecord::kMaxCount));
          },
          [](const std::uint64_t& value) { return Json(value); }, nullptr};
}

const Fields<ReproducedTask>& task_fields() {
  static const Fields<ReproducedTask> fields{
      required("time_s", &ReproducedTask::time_s, non_negative()),
      required("exposed_s", &ReproducedTask::exposed_s, non_negative()),
      required("largest_term", &ReproducedTask::largest_term, term()),
      required("largest_term_s", &ReproducedTask::largest_term_s, non_negative()),
  };
  return fields;
}

const Fields<ReproducedPlan>& fields_without_plan() {
  static const Fields<ReproducedPlan> fields{
      required("name", &ReproducedPlan::name, text()),
      required("planner", &ReproducedPlan::planner, any_text()),
      required("problem", &ReproducedPlan::problem, text()),
  };
  return fields;
}

const Fields<ReproducedPlan>& plan_fields() {
  static const Fields<ReproducedPlan> fields{
      required("name", &ReproducedPlan::name, text()),
      required("planner", &ReproducedPlan::planner, any_text()),
      required("layout", &ReproducedPlan::layout, text()),
      required("iteration_s", &ReproducedPlan::iteration_s, positive()),
      required("sequences_per_s", &ReproducedPlan::sequences_per_s, positive()),
      required("tokens_per_s", &ReproducedPlan::tokens_per_s, positive()),
      required("weight_sync_s", &ReproducedPlan::weight_sync_s, non_negative()),
      required("usd_per_hour", &ReproducedPlan::usd_per_hour, non_negative()),
      optional("candidates", &ReproducedPlan::candidates, whole_number(1)),
      required("found_s", &ReproducedPlan::found_s, non_negative()),
      required("tasks", &ReproducedPlan::tasks, by_name(object(task_fields()))),
  };
  return fields;
}

Kind<ReproducedPlan> plan() {
  return {[](const JsonView& view) {
            return parse_fields(view, view.optional("problem") ? fields_without_plan() : plan_fields());
          },
          [](const ReproducedPlan& in) {
            return fields_to_json(in, in.has_plan() ? plan_fields() : fields_without_plan());
          },
          nullptr};
}

const Fields<ReproducedCell>& cell_fields() {
  static const Fields<ReproducedCell> fields{
      required("name", &ReproducedCell::name, text()),
      required("cluster", &ReproducedCell::cluster, text()),
      required("devices", &ReproducedCell::devices, count()),
      required("plans", &ReproducedCell::plans, list_of(plan())),
      optional("lower_bound_s", &ReproducedCell::lower_bound_s, positive()),
  };
  return fields;
}

const Fields<Comparison>& comparison_fields() {
  static const Fields<Comparison> fields{
      required("group", &Comparison::group, text()),
      required("cell", &Comparison::cell, text()),
      required("source", &Comparison::source, text()),
      required("unit", &Comparison::unit, text()),
      optional("ours", &Comparison::ours, non_negative()),
      required("published_low", &Comparison::published_low, non_negative()),
      required("published_high", &Comparison::published_high, positive())
          .then([](const JsonView& view, Comparison& in) {
            if (in.published_high < in.published_low)
              view.required("published_high").fail("less than published_low");
          }),
      required("agrees", &Comparison::agrees, flag()),
      required("sentence", &Comparison::sentence, any_text()).then([](const JsonView& view, Comparison& in) {
        if (in.agrees != in.sentence.empty())
          view.required("sentence").fail("expected one where the figures disagree, and only there");
      }),
  };
  return fields;
}

const Fields<Cause>& cause_fields() {
  static const Fields<Cause> fields{
      required("group", &Cause::group, text()),
      required("sentence", &Cause::sentence, text()),
  };
  return fields;
}

const Fields<ReproducedExperiment>& experiment_fields() {
  static const Fields<ReproducedExperiment> fields{
      required("name", &ReproducedExperiment::name, text()),
      required("paper", &ReproducedExperiment::paper, text()),
      required("coefficients", &ReproducedExperiment::coefficients, text()),
      required("framework", &ReproducedExperiment::framework, text()),
      required("assumptions", &ReproducedExperiment::assumptions, list_of(text())),
      required("cells", &ReproducedExperiment::cells, list_of(object(cell_fields()))),
      required("comparisons", &ReproducedExperiment::comparisons, list_of(object(comparison_fields()))),
      required("causes", &ReproducedExperiment::causes, list_of(object(cause_fields()))),
      required("contradictions", &ReproducedExperiment::contradictions, list_of(text())),
  };
  return fields;
}

const Fields<Reproduction>& reproduction_fields() {
  static const Fields<Reproduction> fields{
      optional("budget_s", &Reproduction::budget_s, positive()),
      optional("budget_evaluations", &Reproduction::budget_evaluations, whole_number(1)),
      required("seed", &Reproduction::seed, whole_number(0)),
      required("threads", &Reproduction::threads, count()),
      required("was_interrupted", &Reproduction::was_interrupted, flag()),
      required("experiments", &Reproduction::experiments, list_of(object(experiment_fields()))),
  };
  return fields;
}

}  // namespace

Reproduction Reproduction::parse(const JsonView& view) { return parse_fields(view, reproduction_fields()); }

Json Reproduction::to_json() const { return fields_to_json(*this, reproduction_fields()); }

}  // namespace sextant::inline lab
