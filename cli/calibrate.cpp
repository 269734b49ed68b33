// sextant calibrate: coefficients from runs.
#include <map>
#include <memory>

#include "calibrate/fit.h"
#include "calibrate/split.h"
#include "cli/command.h"
#include "cli/table.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string runs;
  std::string out = "coefficients.json";
  std::string start;
  double hold_out = 0;
  HoldOutBy by = HoldOutBy::workflow;
  unsigned seed = 1;
  bool json = false;
};

std::string shown_interval(const Coefficient& c) {
  if (!c.low || !c.high) return "";
  return format_number(*c.low) + " to " + format_number(*c.high);
}

std::string describe(const Coefficients& coefficients) {
  Table table({"coefficient", "device type", "value", "90 % interval", "prior", "remark"});
  for (const Coefficient& c : coefficients.values) {
    std::string remark = c.identified ? "" : "not identified";
    if (c.at_bound) remark += remark.empty() ? "at bound" : ", at bound";
    table.add({std::string(spec_of(c.id).name), c.device_type, format_number(c.value), shown_interval(c),
               format_number(c.prior), remark});
  }
  return table.text();
}

int run(const Options& options) {
  const Runs runs = load_document<Runs>(options.runs).content;
  Coefficients start;
  if (!options.start.empty()) start = load_document<Coefficients>(options.start).content;
  Split split;
  if (options.hold_out > 0) {
    split = split_runs(runs, options.hold_out, options.by, options.seed);
  } else {
    for (const Run& run : runs.runs) split.fit.push_back(run.name);
  }
  const Coefficients fitted = fit_coefficients(runs, split.fit, {}, start);
  save_document(options.out, fitted);
  if (options.json) {
    print_document(fitted);
  } else {
    std::fputs(describe(fitted).c_str(), stdout);
    print_line("fitted to " + std::to_string(split.fit.size()) + " runs (" +
               std::to_string(fitted.fit->residuals) + " times), " + std::to_string(split.held_out.size()) +
               " kept back; cost " + format_number(fitted.fit->initial_cost) + " to " +
               format_number(fitted.fit->final_cost));
    if (!fitted.fit->converged) print_line("not converged: " + fitted.fit->message);
  }
  say_wrote(options.out);
  return fitted.fit->converged ? kDone : kAnswerIsNo;
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("calibrate", "Fit the cost model's coefficients to measured runs");
  command->add_option("runs", options->runs, "Runs document, from sextant proxy")->required();
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
  command->add_flag("--json", options->json, "Print the coefficients document instead of a table");
  command->footer(
      "Exits 1 when the fit does not converge (the coefficients are written all the same).\n"
      "Example: sextant calibrate runs.json --hold-out 0.33 --hold-out-by workflow --out coefficients.json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sextant::cli
