#include "cli/plan/suggestions.h"

#include <algorithm>
#include <map>
#include <set>

#include "cli/shared/table.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

// Tasks of one layout and micro-batch together: "all tasks dp2 tp1 pp1 on 0-1, micro-batch 4".
std::vector<std::string> layout_lines(const Plan& plan) {
  std::map<std::string, std::vector<std::string>> tasks_by_layout;
  for (const auto& [name, task] : plan.tasks) {
    tasks_by_layout[describe(task) + ", micro-batch " + std::to_string(task.micro_batch_sequences)].push_back(
        name);
  }
  std::vector<std::string> lines;
  for (const auto& [layout, tasks] : tasks_by_layout) {
    std::string names;
    for (const std::string& task : tasks) names += (names.empty() ? "" : ", ") + task;
    lines.push_back((tasks.size() == plan.tasks.size() ? "all tasks" : names) + ": " + layout);
  }
  return lines;
}

// Layouts in the order of their first use, numbered from 1.
class Layouts {
 public:
  std::string number_of(const Plan& plan) {
    const std::vector<std::string> lines = layout_lines(plan);
    const auto known = std::find(all_.begin(), all_.end(), lines);
    const auto at = static_cast<std::size_t>(known - all_.begin());
    if (known == all_.end()) all_.push_back(lines);
    return std::to_string(at + 1);
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (std::size_t l = 0; l < all_[i].size(); ++l) {
        out += (l == 0 ? "layout " + std::to_string(i + 1) + "  " : "          ") + all_[i][l] + "\n";
      }
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> all_;
};

}  // namespace

std::string describe_suggestions(const std::vector<Suggestion>& suggestions) {
  Layouts layouts;
  Table table({"next run", "layout", "predicted", "device time", "teaches"});
  for (const Suggestion& suggestion : suggestions) {
    table.add({suggestion.workflow.name, layouts.number_of(suggestion.plan),
               format_seconds(suggestion.iteration_s), format_seconds(suggestion.device_s),
               suggestion.teaches});
  }
  return table.text() + layouts.text();
}

Experiments experiments_of(const std::vector<Suggestion>& suggestions) {
  Experiments experiments;
  std::set<std::string> names;
  for (const Suggestion& suggestion : suggestions) {
    const std::string& workflow = suggestion.workflow.name;
    const std::string& plan = suggestion.plan.name;
    experiments.workflows[workflow] = suggestion.workflow;
    experiments.plans[plan] = suggestion.plan;
    std::string name = plan;
    if (names.contains(plan)) name.insert(0, workflow + " ");
    names.insert(name);
    experiments.experiments.push_back({name, workflow, plan});
  }
  return experiments;
}

}  // namespace sextant::cli
