// sextant validate: predictions held against runs that the fit did not see.
#include "calibrate/validate.h"

#include <memory>
#include <optional>

#include "ask/coefficient_source.h"
#include "calibrate/ranking.h"
#include "cli/command_line/checks.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string runs;
  std::string coefficients;
  std::string out;
  double max_task_error = 0;  // 0: not asked
  double max_iteration_error = 0;
  bool json = false;
};

void add_row(Table& table, const std::string& what, const ErrorSummary& errors) {
  if (errors.count == 0) {
    table.add({what, "none"});
    return;
  }
  table.add({what, std::to_string(errors.count), format_percent(errors.mape), format_percent(errors.median),
             format_percent(errors.p90), format_percent(errors.worst)});
}

std::string describe(const Accuracy& accuracy) {
  Table table({"error of", "records", "MAPE", "median", "P90", "worst"});
  add_row(table, "tasks, held out", accuracy.held_out_tasks);
  for (const auto& [task, errors] : accuracy.held_out_by_task) add_row(table, "  " + task, errors);
  add_row(table, "iterations, held out", accuracy.held_out_iterations);
  if (!accuracy.memories.empty()) add_row(table, "memory, held out", accuracy.held_out_memories);
  add_row(table, "tasks, in sample", accuracy.in_sample_tasks);
  add_row(table, "iterations, in sample", accuracy.in_sample_iterations);
  if (!accuracy.memories.empty()) add_row(table, "memory, in sample", accuracy.in_sample_memories);
  if (!accuracy.waits.empty()) add_row(table, "waits, of their iteration", summarise(accuracy.waits));
  std::string out = table.text();
  const int held_out = accuracy.held_out_tasks.count + accuracy.held_out_iterations.count;
  if (held_out == 0) {
    out += "no run is held out: in-sample errors say little about other runs (calibrate --hold-out)\n";
  }
  if (accuracy.held_out_iterations.count > 1) {
    out += "rank correlation of held-out iterations " + format_number(accuracy.rank_correlation) + "\n";
  }
  if (accuracy.held_out_iterations.count > 0) out += describe(accuracy.order) + "\n";
  if (accuracy.has_intervals && held_out > 0) {
    out += "90 % intervals cover " + format_percent(accuracy.interval_coverage, 0) + " of held-out times\n";
  }
  return out;
}

// The first limit that is exceeded, as a sentence.
std::optional<std::string> exceeded(const Accuracy& accuracy, const Options& options) {
  const auto check = [](const char* what, const ErrorSummary& errors,
                        double maximum) -> std::optional<std::string> {
    if (maximum <= 0 || errors.mape <= maximum) return std::nullopt;
    return std::string("MAPE of ") + what + " is " + format_percent(errors.mape) + ", more than the " +
           format_percent(maximum) + " asked";
  };
  const auto tasks = check("held-out task times", accuracy.held_out_tasks, options.max_task_error);
  return tasks ? tasks
               : check("held-out iteration times", accuracy.held_out_iterations, options.max_iteration_error);
}

// A limit needs times that it can be held to.
void check_judged(const Options& options, const Accuracy& accuracy) {
  const bool no_tasks = accuracy.held_out_tasks.count == 0,
             no_iterations = accuracy.held_out_iterations.count == 0;
  if (!(options.max_task_error > 0 && no_tasks) && !(options.max_iteration_error > 0 && no_iterations)) return;
  if (no_tasks && no_iterations) {
    throw_bad_input(options.runs +
                    ": no run is held out, so the fit cannot be validated (calibrate --hold-out)");
  }
  throw_bad_input(options.runs + ": the held-out runs have no times of " + (no_tasks ? "tasks" : "iterations") +
                  " to validate the fit with");
}

int run(const Options& options) {
  const Runs runs = load_document<Runs>(options.runs).content;
  const NamedCoefficients loaded = load_coefficients_for(options.coefficients, runs);
  say(loaded.notes);
  const Accuracy accuracy = validate(runs, loaded.coefficients);
  if (!options.out.empty()) save_document(options.out, accuracy);
  if (options.json) {
    print_document(accuracy);
  } else {
    std::fputs(describe(accuracy).c_str(), stdout);
  }
  if (!options.out.empty()) say_wrote(options.out);
  check_judged(options, accuracy);
  if (const auto sentence = exceeded(accuracy, options)) {
    std::fprintf(stderr, "sextant: %s\n", sentence->c_str());
    return kAnswerIsNo;
  }
  return kDone;
}

}  // namespace

void add_validate(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command = line.add_command("validate", "Predict runs that the fit did not see");
  command.add_option("runs", options->runs, "Runs document").required();
  command.add_option("--coefficients", options->coefficients, "Coefficients document").required();
  command.add_output("--out", options->out, "Write the accuracy document here");
  command
      .add_option("--max-task-error", options->max_task_error,
                  "Exit 1 if the MAPE of held-out task times is larger, e.g. 0.15")
      .check(positive_number());
  command
      .add_option("--max-iteration-error", options->max_iteration_error,
                  "Exit 1 if the MAPE of held-out iteration times is larger, e.g. 0.10")
      .check(positive_number());
  command.add_flag("--json", options->json, "Print the accuracy document instead of a table");
  command.footer(
      "Example: sextant validate runs.json --coefficients coefficients.json --max-iteration-error 0.1");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
