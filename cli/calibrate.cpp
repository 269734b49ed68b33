// sextant calibrate: coefficients from runs, what the runs do not tell, and which runs to take next.
#include <map>
#include <memory>
#include <optional>

#include "calibrate/cross_validation.h"
#include "calibrate/fit.h"
#include "calibrate/ranking.h"
#include "calibrate/split.h"
#include "calibrate/suggest.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/table.h"
#include "core/error.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

// What to leave out in turn; "auto" looks at the runs, "none" saves the time.
constexpr const char* kAuto = "auto";
constexpr const char* kNone = "none";

struct Options {
  std::string runs;
  std::string out = "coefficients.json";
  std::string start;
  double hold_out = 0;
  HoldOutBy by = HoldOutBy::workflow;
  unsigned seed = 1;
  std::string leave_out = kAuto;
  int most_folds = 10;
  int suggest = 0;
  double budget_device_s = 0;  // 0: any
  std::string candidates;
  std::string suggested = "suggested.json";
  bool json = false;
};

std::string shown_interval(const Coefficient& c) {
  if (!c.low || !c.high) return "";
  return format_number(*c.low) + " to " + format_number(*c.high);
}

std::string owner_of(const std::string& device_type, const std::string& framework) {
  if (device_type == kAny && framework == kAny) return "all";
  return framework == kAny ? device_type : framework;
}

std::string describe(const Coefficients& coefficients) {
  Table table({"coefficient", "of", "value", "90 % interval", "prior", "remark"});
  for (const Coefficient& c : coefficients.values) {
    std::string remark = c.identified ? "" : "not identified";
    if (c.at_bound) remark += remark.empty() ? "at bound" : ", at bound";
    table.add({std::string(spec_of(c.id).name), owner_of(c.device_type, c.framework), format_number(c.value),
               shown_interval(c), format_number(c.prior), remark});
  }
  return table.text();
}

std::string name_in_table(const Parameter& parameter) {
  const std::string name(parameter.spec().name);
  const std::string owner = owner_of(parameter.device_type, parameter.framework);
  return parameter.is_deviation ? name + " of " + owner : name;
}

// What the runs show in combination only.
std::string describe_confounded(const Coefficients& coefficients) {
  constexpr std::size_t kMostPairs = 8;
  const auto posterior = posterior_of(coefficients);
  if (!posterior) return "";
  std::string out;
  const std::vector<Confounded> pairs = confounded_pairs(*posterior);
  for (std::size_t i = 0; i < std::min(kMostPairs, pairs.size()); ++i) {
    const auto parameter = [&](int p) { return name_in_table(posterior->parameters[static_cast<std::size_t>(p)]); };
    out += "  " + parameter(pairs[i].a) + (pairs[i].correlation < 0 ? " against " : " with ") + parameter(pairs[i].b) +
           " (correlation " + format_number(pairs[i].correlation) + ")\n";
  }
  if (out.empty()) return "";
  if (pairs.size() > kMostPairs) out += "  and " + std::to_string(pairs.size() - kMostPairs) + " more pairs\n";
  return "not told apart by these runs, only in combination:\n" + out;
}

std::string describe(const HeldOutSummary& held_out) {
  std::string out = "one " + held_out.left_out + " left out in turn (" + std::to_string(held_out.folds) + " folds): ";
  if (held_out.tasks > 0) {
    out += "task MAPE " + format_percent(held_out.task_mape) + " (" + std::to_string(held_out.tasks) + "), ";
  }
  if (held_out.iterations > 0) {
    out += "iteration MAPE " + format_percent(held_out.iteration_mape) + " (" +
           std::to_string(held_out.iterations) + "), ";
  }
  if (held_out.memories > 0) {
    out += "memory MAPE " + format_percent(held_out.memory_mape) + " (" + std::to_string(held_out.memories) +
           "), ";
  }
  return out + "90 % intervals cover " + format_percent(held_out.coverage_90, 0) + "\n" +
         describe(held_out.order) + "\n";
}

std::string describe_outliers(const FitSummary& fit) {
  if (fit.outliers.empty()) return "";
  std::string out = "far from the model, held down by the robust loss:";
  for (const std::string& name : fit.outliers) out += " " + name;
  return out + "\n";
}

std::optional<LeaveOut> what_to_leave_out(const Options& options, const Runs& runs) {
  if (options.leave_out == kNone) return std::nullopt;
  if (options.leave_out == kAuto) return customary_leave_out(runs);
  for (std::size_t i = 0; i < kLeaveOutNames.size(); ++i) {
    if (kLeaveOutNames[i] == options.leave_out) return static_cast<LeaveOut>(i);
  }
  return std::nullopt;  // the option's check names the others
}

// The suggested runs as experiments for the proxy.
void suggest(const Options& options, const std::optional<Experiments>& listed, const Runs& runs,
             const Coefficients& fitted) {
  const Candidates candidates = listed ? candidates_of(*listed, runs) : candidates_like(runs);
  const std::vector<Suggestion> suggestions =
      suggest_runs(candidates, fitted, options.suggest, options.budget_device_s);
  if (suggestions.empty()) throw_bad_input("no run that could be suggested fits the devices and the budget");
  Experiments experiments;
  Table table({"next run", "workflow", "layout", "predicted", "device time", "teaches"});
  for (const Suggestion& suggestion : suggestions) {
    experiments.workflows[suggestion.workflow.name] = suggestion.workflow;
    experiments.plans[suggestion.plan.name] = suggestion.plan;
    experiments.experiments.push_back({suggestion.plan.name, suggestion.workflow.name, suggestion.plan.name});
    table.add({suggestion.plan.name, suggestion.workflow.name, describe(suggestion.plan),
               format_seconds(suggestion.iteration_s), format_seconds(suggestion.device_s), suggestion.teaches});
  }
  save_document(options.suggested, experiments);
  if (!options.json) std::fputs(table.text().c_str(), stdout);
  say_wrote(options.suggested);
}

int run(const Options& options) {
  const Runs all = load_document<Runs>(options.runs).content;
  std::optional<Experiments> listed;  // read before anything is written
  if (!options.candidates.empty()) listed = load_document<Experiments>(options.candidates).content;
  Coefficients start;
  if (!options.start.empty()) start = load_document<Coefficients>(options.start).content;
  Split split;
  if (options.hold_out > 0) {
    split = split_runs(all, options.hold_out, options.by, options.seed);
  } else {
    for (const Run& run : all.runs) split.fit.push_back(run.name);
  }
  Coefficients fitted = fit_coefficients(all, split.fit, {}, start);
  const Runs seen = subset(all, split.fit);
  if (const auto what = what_to_leave_out(options, seen)) {
    const std::vector<Fold> folds =
        leave_groups_out(seen, group_key(seen, *what), options.most_folds, options.seed);
    fitted.fit->held_out = summary_of(seen, cross_validate(seen, folds, {}, start), *what);
  }
  save_document(options.out, fitted);
  if (options.json) {
    print_document(fitted);
  } else {
    std::fputs((describe(fitted) + describe_confounded(fitted) + describe_outliers(*fitted.fit)).c_str(), stdout);
    if (fitted.fit->held_out) std::fputs(describe(*fitted.fit->held_out).c_str(), stdout);
    print_line("fitted to " + std::to_string(split.fit.size()) + " runs (" +
               std::to_string(fitted.fit->residuals) + " times), " + std::to_string(split.held_out.size()) +
               " kept back; cost " + format_number(fitted.fit->initial_cost) + " to " +
               format_number(fitted.fit->final_cost));
    if (!fitted.fit->converged) print_line("not converged: " + fitted.fit->message);
  }
  say_wrote(options.out);
  if (options.suggest > 0) suggest(options, listed, seen, fitted);
  return fitted.fit->converged ? kDone : kAnswerIsNo;
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("calibrate", "Fit the cost model's coefficients to measured runs");
  command->add_option("runs", options->runs, "Runs document, from sextant proxy or import")->required();
  command->add_option("--out", options->out, "Coefficients document to write")->capture_default_str();
  command->add_option("--start", options->start, "Coefficients to start from and be drawn to");
  command->add_option("--hold-out", options->hold_out, "Share of groups to keep back for validate")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  const std::map<std::string, HoldOutBy> groups{
      {"run", HoldOutBy::run}, {"workflow", HoldOutBy::workflow}, {"plan", HoldOutBy::plan}};
  command->add_option("--hold-out-by", options->by, "What is kept back whole: run, workflow or plan")
      ->transform(CLI::CheckedTransformer(groups));
  command->add_option("--seed", options->seed, "Of the choice of what is kept back")->capture_default_str();
  std::vector<std::string> left_out{kAuto, kNone};
  left_out.insert(left_out.end(), kLeaveOutNames.begin(), kLeaveOutNames.end());
  command
      ->add_option(
          "--cross-validate", options->leave_out,
          "What to leave out in turn, for intervals that hold on new runs; scale: runs on 1 device, on 2 to 3, "
          "on 4 to 7, ...")
      ->check(CLI::IsMember(left_out))
      ->capture_default_str();
  command->add_option("--folds", options->most_folds, "At most so many fits for it")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  command->add_option("--suggest", options->suggest, "Name so many runs that would teach most")
      ->check(CLI::Range(0, 1000));
  command->add_option("--budget", options->budget_device_s, "Of the suggested runs, in predicted device seconds")
      ->check(CLI::PositiveNumber);
  command->add_option("--candidates", options->candidates,
                      "Experiments document to suggest from; else layouts like those of the runs");
  command->add_option("--suggested", options->suggested, "Experiments document to write suggestions to")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print the coefficients document instead of a table");
  command->footer(
      "Exits 1 when the fit does not converge (the coefficients are written all the same).\n"
      "Example: sextant calibrate runs.json --hold-out 0.33 --hold-out-by workflow --out coefficients.json\n"
      "         sextant calibrate runs.json --suggest 5 && mpirun -n 2 sextant proxy --experiments suggested.json ...");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sextant::cli
