#include "documents/experiments.h"

#include <set>

#include "documents/values/fields.h"

namespace sextant::inline documents {

Experiments Experiments::parse(const JsonView& view) {
  view.allow_only({"workflows", "plans", "experiments"});
  Experiments all;
  all.workflows = by_name(part<Workflow>("workflow.schema.json")).read(view.required("workflows"));
  all.plans = by_name(part<Plan>("plan.schema.json")).read(view.required("plans"));
  for (auto& [name, plan] : all.plans) take_as_stated(plan);
  std::set<std::string> names;
  for (const JsonView& entry : view.required("experiments").items()) {
    entry.allow_only({"name", "workflow", "plan"});
    Experiment experiment{entry.required("name").text(), entry.required("workflow").text(),
                          entry.required("plan").text()};
    if (!names.insert(experiment.name).second) entry.required("name").fail("another experiment has this name");
    if (!all.workflows.contains(experiment.workflow)) {
      entry.required("workflow").fail("unknown workflow \"" + experiment.workflow + "\"");
    }
    if (!all.plans.contains(experiment.plan))
      entry.required("plan").fail("unknown plan \"" + experiment.plan + "\"");
    all.experiments.push_back(std::move(experiment));
  }
  return all;
}

Json Experiments::to_json() const {
  Json json{{"workflows", Json::object()}, {"plans", Json::object()}, {"experiments", Json::array()}};
  for (const auto& [name, workflow] : workflows) json["workflows"][name] = workflow.to_json();
  for (const auto& [name, plan] : plans) json["plans"][name] = plan.to_json();
  for (const Experiment& experiment : experiments) {
    json["experiments"].push_back(
        {{"name", experiment.name}, {"workflow", experiment.workflow}, {"plan", experiment.plan}});
  }
  return json;
}

}  // namespace sextant::inline documents
