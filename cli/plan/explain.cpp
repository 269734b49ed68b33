#include "cli/plan/explain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "cli/plan/what_if.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

std::string share_of(double part, double whole) { return format_percent(part / whole, 1); }

std::string dollars(const std::optional<double>& usd) { return usd ? "$" + format_number(*usd) : ""; }

// The name of a task's term for people.
std::string name_of_part(const TimePart& part) {
  std::string name = part.task + " " + part.term;
  if (part.task == "iteration") name = part.term;
  std::replace(name.begin(), name.end(), '_', ' ');
  return part.task == "iteration" ? name : part.task + name.substr(part.task.size());
}

std::string signed_seconds(double seconds) {
  return (seconds < 0 ? "-" : "+") + format_seconds(std::abs(seconds));
}

// The few that make up most of a difference.
std::string describe_differences(const std::vector<TimePart>& differences) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, differences.size()); ++i) {
    text += (i == 0 ? "" : ", ") + name_of_part(differences[i]) + " " + signed_seconds(differences[i].seconds);
  }
  return text;
}

std::string describe_parts(const Explanation& explanation) {
  constexpr std::size_t kShown = 8;
  Table parts({"where the time goes", "time", "share"});
  double rest = 0;
  for (std::size_t i = 0; i < explanation.parts.size(); ++i) {
    const TimePart& part = explanation.parts[i];
    if (i < kShown)
      parts.add(
          {name_of_part(part), format_seconds(part.seconds), share_of(part.seconds, explanation.iteration_s)});
    else
      rest += part.seconds;
  }
  if (explanation.parts.size() > kShown)
    parts.add({"all others", format_seconds(rest), share_of(rest, explanation.iteration_s)});
  Table devices({"devices", "total", "used", "idle"});
  for (const DeviceUse& use : explanation.devices) {
    devices.add({use.device_type, std::to_string(use.devices), std::to_string(use.used),
                 format_percent(use.idle_fraction, 0)});
  }
  return "bottleneck  " + explanation.bottleneck + "\n" + parts.text() + devices.text();
}

// The unit of ratios if it is not the time in the columns before them.
std::string of_goal(const Explanation& explanation) {
  if (explanation.goal == "cost") return " dollars";
  return explanation.goal == "devices" ? " devices" : "";
}

std::string describe_savings(const Explanation& explanation) {
  constexpr std::size_t kShown = 10;
  if (explanation.savings.empty()) return "";
  const std::string saves = explanation.goal == "time" ? "saves" : "saves (time)";
  Table savings({"10 % better", "of", saves, "elasticity"});
  for (std::size_t i = 0; i < std::min(kShown, explanation.savings.size()); ++i) {
    const Saving& saving = explanation.savings[i];
    savings.add({saving.name, saving.of == "*" ? "all" : saving.of, format_percent(saving.saved_fraction, 2),
                 format_number(saving.elasticity)});
  }
  return savings.text();
}

std::string describe_interval(const Interval& ratio) {
  return format_number(ratio.low) + " to " + format_number(ratio.high);
}

std::string probability_of(const std::optional<Chance>& chance) {
  return chance ? format_percent(chance->probability, 0) : "";
}

std::string min_of(const std::optional<Chance>& chance) {
  return chance && chance->probability_with_model_error
             ? format_percent(*chance->probability_with_model_error, 0)
             : "";
}

std::string explain_chances(const Explanation& explanation) {
  if (explanation.draws == 0) {
    return "The coefficients were not fitted and carry no uncertainty, so the probability that the plan is "
           "better is unknown.\n";
  }
  return "Sure: share of " + std::to_string(explanation.draws) +
         " coefficient samples in which the plan is better. At least: the same, if the model also errs on each "
         "of the two plans as on held-out runs.\n";
}

std::string describe_alternatives(const Explanation& explanation) {
  const bool is_cost = explanation.goal == "cost";
  std::vector<std::string> heads{"alternative", "iteration", "times the plan's" + of_goal(explanation),
                                 "90 %",        "sure",      "at least"};
  if (is_cost) heads.insert(heads.begin() + 2, "dollars per iteration");
  Table table(heads);
  const auto add = [&](std::vector<std::string> row, const std::optional<double>& usd) {
    if (is_cost) row.insert(row.begin() + 2, usd ? format_number(*usd) : "");
    table.add(row);
  };
  std::string differences, without;
  for (const Alternative& other : explanation.alternatives) {
    if (other.outcome != PlanOutcome::found) {
      without += other.name + ": " + other.message + "\n";
    } else if (other.is_same) {
      add({other.name, format_seconds(other.iteration_s), "the same", "", "", ""}, other.usd_per_iteration);
    } else {
      add({other.name, format_seconds(other.iteration_s), format_number(other.ratio),
           other.chance ? describe_interval(other.chance->ratio_90) : "", probability_of(other.chance),
           min_of(other.chance)},
          other.usd_per_iteration);
      differences += other.name + ": " + describe_differences(other.differences) + "\n";
    }
  }
  return table.text() + without + explain_chances(explanation) + differences;
}

std::string format_value(const std::string& name, double value) {
  if (name == "flop_per_s") return format_flop_per_s(value);
  if (name.ends_with("bytes_per_s")) return format_bytes_per_s(value);
  if (name.ends_with("_bytes")) return format_bytes(value);
  if (name.ends_with("_s")) return format_seconds(value);
  return format_number(value);
}

std::string signed_percent(double factor) {
  return (factor < 1 ? "-" : "+") + format_percent(std::abs(factor - 1), 1);
}

const Alternative* better_already(const Explanation& explanation) {
  const auto better = std::find_if(
      explanation.alternatives.begin(), explanation.alternatives.end(),
      [](const Alternative& other) { return other.outcome == PlanOutcome::found && other.ratio < 1 - 1e-9; });
  return better == explanation.alternatives.end() ? nullptr : &*better;
}

std::string describe_flips(const Explanation& explanation) {
  constexpr std::size_t kShown = 12;
  constexpr double kAlike = 0.005;  // of a ratio
  if (const Alternative* better = better_already(explanation)) {
    if (better->ratio > 1 - kAlike)
      return "The plan of " + better->name + " is as good, so that no single number decides between them.\n";
    return "The plan of " + better->name +
           " is already better: search longer, or use its planner. No decisive numbers were searched for.\n";
  }
  if (explanation.flips.empty()) {
    return "No change of a single number by up to a factor of ten makes another of these plans the best.\n";
  }
  Table table({"what would change the answer", "of", "now", "at", "change", "standard errors", "then better"});
  for (std::size_t i = 0; i < std::min(kShown, explanation.flips.size()); ++i) {
    const Flip& flip = explanation.flips[i];
    table.add({flip.name, flip.of == "*" ? "all" : flip.of, format_value(flip.name, flip.value),
               format_value(flip.name, flip.value * flip.factor), signed_percent(flip.factor),
               flip.standard_errors ? format_number(*flip.standard_errors) : "",
               flip.to.empty() ? "none: the plan no longer fits" : flip.to});
  }
  const std::size_t more = explanation.flips.size() - std::min(kShown, explanation.flips.size());
  return table.text() + (more > 0 ? std::to_string(more) + " more need larger changes\n" : "");
}

std::string joined(const std::vector<std::string>& changes) {
  std::string text;
  for (const std::string& change : changes) text += (text.empty() ? "" : ", ") + change;
  return text;
}

std::string less_or_more(double ratio) {
  return format_percent(std::abs(ratio - 1)) + (ratio <= 1 ? " less" : " more");
}

// The chance has the plan there first, so its ratios are of now to then.
std::string describe_change(const WhatIf& what_if, const Explanation& now) {
  std::string text = (now.goal == "time" ? "" : "in" + of_goal(now) + " ") + less_or_more(what_if.ratio);
  if (!what_if.chance) return text;
  const Interval& ratio = what_if.chance->ratio_90;
  text += " (90 %: " + less_or_more(1 / ratio.high) + " to " + less_or_more(1 / ratio.low) +
          (now.goal == "time" ? "; faster with " : "; better with ") +
          format_percent(what_if.chance->probability, 0);
  return text + ")";
}

// How far the plan there can be from the best there; only times have a bound.
std::string describe_gap(const WhatIf& what_if) {
  if (!what_if.lower_bound_s || !(*what_if.lower_bound_s > 0)) return "";
  return "At most " + format_percent(std::max(0.0, what_if.iteration_s / *what_if.lower_bound_s - 1)) +
         " above the optimum on that cluster: no plan takes less than " +
         format_seconds(*what_if.lower_bound_s) + ".\n";
}

std::string describe_layout_change(const WhatIf& what_if, const Explanation& now) {
  constexpr double kNear = 0.01;  // of searches that found the same, as good as
  if (what_if.keeps_plan) return "The same plan remains the best on that cluster.\n";
  std::string text = "The layout changes; the old plan cannot run on that cluster.\n";
  if (what_if.kept_iteration_s) {
    const double loss = *what_if.kept_iteration_s / what_if.iteration_s - 1;
    text = "The layout changes; the old plan would take " + format_seconds(*what_if.kept_iteration_s) +
           " on that cluster";
    if (now.goal != "time") {
      text += ".\n";  // more or less time is not what it is judged by
    } else {
      text += ", " + format_percent(loss, 2) + " more" +
              (loss < kNear ? ": the old plan is about as good.\n" : ".\n");
    }
  }
  Table layouts({"task", "new layout"});
  for (const auto& [task, layout] : what_if.layouts) layouts.add({task, layout});
  return text + layouts.text();
}

// sizes: receives a sentence for each scenario, which may be empty.
Explanation explanation_of(const ExplainOptions& options, const Decided& decided,
                           const std::vector<Scenario>& scenarios, std::vector<std::string>& sizes) {
  const bool is_whole = options.is_asked || scenarios.empty();
  Explanation explanation = is_whole ? explain(decided) : heading_of(decided);
  for (const Scenario& scenario : scenarios) {
    int used = 0;
    explanation.what_ifs.push_back(plan_what_if(decided, scenario, &used));
    sizes.push_back(
        describe_size(decided.request.cluster, scenario.cluster, {used, decided.request.workflow.sequences()}));
  }
  return explanation;
}

// "adds 2 nodes of 8 h100", for the nodes of `after` that `before` has not; empty if there are none.
std::string describe_missing(const char* verb, const Cluster& before, const Cluster& after) {
  std::set<std::string> known;
  for (const Node& node : before.nodes()) known.insert(node.name);
  std::map<std::string, int> counts;  // by kind
  for (const Node& node : after.nodes()) {
    if (!known.contains(node.name)) ++counts[std::to_string(node.devices) + " " + node.device_type];
  }
  std::string text;
  for (const auto& [kind, count] : counts)
    text += (text.empty() ? std::string(verb) + " " : " and ") + std::to_string(count) +
            (count == 1 ? " node of " : " nodes of ") + kind;
  return text;
}

// The worst of what became of the changed clusters.
int exit_code_of(const Explanation& explanation) {
  int code = kDone;
  for (const WhatIf& what_if : explanation.what_ifs) {
    if (what_if.outcome == PlanOutcome::infeasible) code = std::max(code, kAnswerIsNo);
    if (what_if.outcome == PlanOutcome::too_large) code = std::max(code, kBadInput);
  }
  return code;
}

}  // namespace

void add_explain_options(const Command& command, ExplainOptions& options) {
  command.add_flag("--explain", options.is_asked,
                   "Explain the plan: bottleneck, gains of faster hardware, rival plans, and the measured "
                   "numbers that decide");
  command.add_output("--explain-out", options.out, "Write the explanation document here");
  command.add_option("--what-if", options.what_ifs, kWhatIfHelp).may_be_repeated();
  constexpr int kDrawLimit = 100'000;
  command
      .add_option("--draws", options.draws,
                  "Number of coefficient samples for the probability that a plan is better")
      .check(integer_between(2, kDrawLimit))
      .shows_default();
}

Scenarios scenarios_of(const ExplainOptions& options, const Cluster& cluster, bool is_json) {
  if (is_json && options.has_any() && options.out.empty()) {
    throw_bad_input("--json prints only the plan document: give a file for the explanation with --explain-out");
  }
  Scenarios scenarios;
  for (const std::string& written : options.what_ifs) {
    try {
      scenarios.possible.push_back(parse_what_if(written, cluster));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input || options.what_ifs.size() == 1) throw;
      scenarios.errors.emplace_back(error.what());
    }
  }
  if (scenarios.possible.empty() && !scenarios.errors.empty()) {
    std::string all;
    for (const std::string& error : scenarios.errors) all += (all.empty() ? "" : "; ") + error;
    throw_bad_input(all);
  }
  return scenarios;
}

int explain_plan(const ExplainOptions& options, const Decided& decided, const Scenarios& scenarios,
                 bool is_json) {
  std::vector<std::string> sizes;
  const Explanation explanation = explanation_of(options, decided, scenarios.possible, sizes);
  if (!options.out.empty()) save_document(options.out, explanation);
  if (!is_json) {
    const bool is_whole = options.is_asked || scenarios.possible.empty();
    if (is_whole) std::fputs(describe(explanation).c_str(), stdout);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      std::fputs((describe(explanation.what_ifs[i], explanation) + sizes[i]).c_str(), stdout);
  }
  for (const WhatIf& what_if : explanation.what_ifs) {
    if (what_if.outcome != PlanOutcome::found)
      std::fprintf(stderr, "sextant: what if %s: %s\n", joined(what_if.changes).c_str(),
                   what_if.message.c_str());
  }
  for (const std::string& error : scenarios.errors) std::fprintf(stderr, "sextant: %s\n", error.c_str());
  if (!options.out.empty()) say_wrote(options.out);
  return std::max(exit_code_of(explanation), scenarios.errors.empty() ? kDone : kBadInput);
}

std::string describe(const Explanation& explanation) {
  return "\n" + describe_parts(explanation) + "\n" + describe_savings(explanation) + "\n" +
         describe_alternatives(explanation) + "\n" + describe_flips(explanation);
}

std::string describe_size(const Cluster& before, const Cluster& after, const UsedDevices& plan) {
  const std::string added = describe_missing("adds", before, after);
  const std::string removed = describe_missing("removes", after, before);
  if (added.empty() && removed.empty()) return "";
  const std::size_t nodes = after.nodes().size();
  std::string text = added + (added.empty() || removed.empty() ? "" : ", ") + removed + ": " +
                     std::to_string(nodes) + (nodes == 1 ? " node with " : " nodes with ") +
                     std::to_string(after.device_count()) + " devices in all";
  if (plan.used > 0) text += "; the plan uses " + std::to_string(plan.used);
  if (plan.used > 0 && plan.used < after.device_count() && plan.sequences % after.device_count() != 0)
    text += ", among other reasons because " + std::to_string(plan.sequences) +
            " sequences do not divide evenly among all of them";
  return text + "\n";
}

std::string describe(const WhatIf& what_if, const Explanation& now) {
  std::string text = "\nwhat if " + joined(what_if.changes) + ": ";
  if (what_if.outcome != PlanOutcome::found) return text + "no plan\n";
  if (now.goal == "time" && what_if.keeps_plan && what_if.iteration_s == now.iteration_s) {
    text += "iteration " + format_seconds(what_if.iteration_s) + " as before\n";
  } else {
    text += "iteration " + format_seconds(what_if.iteration_s) + " instead of " +
            format_seconds(now.iteration_s) + ", " + describe_change(what_if, now) + "\n";
  }
  if (what_if.usd_per_iteration && now.usd_per_iteration) {
    text += "an iteration costs " + dollars(what_if.usd_per_iteration) + " instead of " +
            dollars(now.usd_per_iteration) + "\n";
  }
  const std::string differences = describe_differences(what_if.differences);
  if (!differences.empty()) text += "largest differences: " + differences + "\n";
  return text + describe_gap(what_if) + describe_layout_change(what_if, now);
}

}  // namespace sextant::cli
