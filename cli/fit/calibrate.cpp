// sextant calibrate: coefficients from runs, what the runs do not tell, and which runs to take next.
#include <algorithm>
#include <memory>
#include <utility>

#include "ask/check/beyond_peak.h"
#include "ask/coefficient_source.h"
#include "ask/fit_question.h"
#include "ask/runs/log_runs.h"
#include "calibrate/split.h"
#include "calibrate/suggest.h"
#include "calibrate/validate.h"
#include "cli/ask/log_options.h"
#include "cli/command_line/checks.h"
#include "cli/fit/describe_fit.h"
#include "cli/plan/suggestions.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "core/in_file.h"
#include "core/units.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

struct Options {
  LogOptions logs;  // or a runs document
  std::string out = "coefficients.json";
  std::string start;
  double hold_out = 0;
  HoldOutBy by = HoldOutBy::workflow;
  FitQuestion fit;
  int suggest = 0;
  double budget_device_s = 0;  // 0: any
  std::string candidates;
  std::string suggested = "suggested.json";
  bool suggested_given = false;
  bool all_coefficients = false;
  bool json = false;
};

Split split_of(const Options& options, const Runs& all) {
  if (options.hold_out > 0) return split_runs(all, options.hold_out, options.by, options.fit.seed);
  Split split;
  for (const Run& run : all.runs) split.fit.push_back(run.name);
  return split;
}

// From a list: with its file's name before what is wrong in it.
CandidateExperiments candidates_for(const Options& options, const Runs& seen) {
  if (options.candidates.empty()) return candidates_like(seen);
  const Experiments listed = load_document<Experiments>(options.candidates).content;
  return in_file(options.candidates, [&] { return candidates_of(listed, seen); });
}

void check_options(const Options& options) {
  if (options.suggest > 0) return;
  if (options.budget_device_s > 0) throw_bad_input("--budget needs --suggest, whose runs it limits");
  if (!options.candidates.empty()) throw_bad_input("--candidates needs --suggest");
  if (options.suggested_given) throw_bad_input("--suggested needs --suggest, whose runs it holds");
}

void print_fit(const Options& options, const Coefficients& fitted, const Split& split) {
  if (options.json) return print_document(fitted);
  std::fputs(describe_fit(fitted, options.all_coefficients).c_str(), stdout);
  print_line("fitted to " + std::to_string(split.fit.size()) + " runs (" +
             std::to_string(fitted.fit->residuals) + " times), " + std::to_string(split.held_out.size()) +
             " held out; cost " + format_number(fitted.fit->initial_cost) + " to " +
             format_number(fitted.fit->final_cost));
  if (!fitted.fit->converged) print_line("not converged: " + fitted.fit->message);
}

// Says how far the fit is from the runs that it was fitted to.
void print_errors_in_sample(const Runs& runs, const Coefficients& fitted) {
  constexpr double kPoor = 0.25;
  const Accuracy accuracy = validate(runs, fitted);
  const ErrorSummary &tasks = accuracy.in_sample_tasks, &iterations = accuracy.in_sample_iterations;
  std::string text = "median error on these runs:";
  if (tasks.count > 0) text += " tasks " + format_percent(tasks.median, 1);
  if (iterations.count > 0)
    text += (tasks.count > 0 ? "," : "") + std::string(" iterations ") + format_percent(iterations.median, 1);
  print_line(text);
  if (std::max(tasks.median, iterations.median) <= kPoor) return;
  say(
      {"Warning: the coefficients do not reproduce the runs: do the cluster, the configuration and the lengths "
       "belong to the log? (sextant check names the task)"});
}

// Times that a fit would follow although no GPU could do the work in them.
void warn_of_impossible_times(const Runs& runs) {
  constexpr std::size_t kShown = 3;
  const std::vector<std::string> all = beyond_peak_of_all(runs);
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i) say({"Warning: " + all[i]});
  if (all.size() > kShown)
    say({"Warning: " + std::to_string(all.size() - kShown) +
         " more times are impossible (sextant check lists them)"});
}

// Exit code of the suggestions.
int suggest(const Options& options, const CandidateExperiments& candidates, const Coefficients& fitted) {
  const std::vector<Suggestion> suggestions =
      suggest_runs(candidates, fitted, options.suggest, options.budget_device_s);
  if (suggestions.empty()) {
    std::fprintf(stderr,
                 "sextant: none of the %zu candidates for suggested runs fits the devices and the budget\n",
                 candidates.all.size());
    return kAnswerIsNo;
  }
  save_document(options.suggested, experiments_of(suggestions));
  if (!options.json) std::fputs(describe_suggestions(suggestions).c_str(), stdout);
  say_wrote(options.suggested);
  return kDone;
}

// Everything that is read is read and checked before anything is written.
int run(const Options& options) {
  check_options(options);
  const LogRuns read = read_runs(options.logs);
  say(read.notes);
  say(left_out_lines(read.imported));
  const Runs& all = read.imported.runs;
  const std::string& first = options.logs.logs.front();
  if (all.runs.empty()) throw_bad_input(first + ": /runs: no runs to fit");
  warn_of_impossible_times(all);
  Coefficients start;
  if (!options.start.empty()) {
    NamedCoefficients loaded = load_coefficients_for(options.start, all);
    say(loaded.notes);
    start = std::move(loaded.coefficients);
  }
  const Split split = in_file(first, [&] { return split_of(options, all); });
  CandidateExperiments candidates;
  if (options.suggest > 0) candidates = candidates_for(options, subset(all, split.fit));
  const Coefficients fitted = in_file(first, [&] { return fit_as_asked(options.fit, all, split.fit, start); });
  save_document(options.out, fitted);
  print_fit(options, fitted, split);
  if (!options.json) print_errors_in_sample(subset(all, split.fit), fitted);
  say_wrote(options.out);
  const int suggested = options.suggest > 0 ? suggest(options, candidates, fitted) : kDone;
  return fitted.fit->converged ? suggested : kAnswerIsNo;
}

}  // namespace

void add_calibrate(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command = line.add_command("calibrate", "Fit the cost model's coefficients to measured runs");
  command
      .add_option("runs", options->logs.logs,
                  "Runs document, from sextant proxy or import, or logs of one framework or several")
      .required();
  add_log_options(command, options->logs, "runs");
  command.add_output("--out", options->out, "Coefficients document to write").shows_default();
  command.add_option("--start", options->start,
                     "Coefficients document to start from; its values also replace the priors");
  command.add_option("--hold-out", options->hold_out, "Fraction of the groups to hold out for sextant validate")
      .check(number_between(0, 0.9))
      .shows_default();
  command.add_choice("--hold-out-by", options->by,
                     {{"run", HoldOutBy::run}, {"workflow", HoldOutBy::workflow}, {"plan", HoldOutBy::plan}},
                     "Unit that is held out as a whole: run, workflow or plan");
  command.add_option("--seed", options->fit.seed, "Random seed for the choice of held-out groups")
      .shows_default();
  command
      .add_option("--cross-validate", options->fit.leave_out,
                  "Groups for cross-validation, which makes intervals hold on new runs; scale: on 1 device, on "
                  "2 to 3, on 4 to 7, ...")
      .check(one_of(cross_validation_names()))
      .shows_default();
  command.add_option("--folds", options->fit.max_folds, "Maximum number of folds of the cross-validation")
      .check(integer_between(2, 1000))
      .shows_default();
  command.add_option("--suggest", options->suggest, "Number of most informative runs to suggest")
      .check(integer_between(0, 1000));
  command
      .add_option("--budget", options->budget_device_s,
                  "Maximum total of the suggested runs, in predicted device seconds")
      .check(positive_number());
  command.add_option(
      "--candidates", options->candidates,
      "Experiments document with the candidates (default: layouts similar to those of the runs)");
  const Option suggested =
      command.add_output("--suggested", options->suggested, "Experiments document to write suggestions to")
          .shows_default();
  command.add_flag("--all-coefficients", options->all_coefficients,
                   "Also show the coefficients that the runs do not identify");
  command.add_flag("--json", options->json, "Print the coefficients document instead of a table");
  command.footer(
      "Exits 1 if the fit does not converge, or if no candidate fits the devices and the budget; the "
      "coefficients are\n"
      "written in both cases.\n"
      "Example: sextant calibrate runs.json --hold-out 0.33 --hold-out-by workflow --out coefficients.json\n"
      "         sextant calibrate runs.json --suggest 5 && mpirun -n 2 sextant proxy --experiments "
      "suggested.json ...");
  command.runs([options, suggested] {
    options->suggested_given = suggested.is_given();
    return run(*options);
  });
}

}  // namespace sextant::cli
