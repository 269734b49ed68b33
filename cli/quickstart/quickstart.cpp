// sextant quickstart: probe, proxy runs, fit, validate, plan, run the plan, report; all on this machine.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "calibrate/cross_validation.h"
#include "calibrate/split.h"
#include "calibrate/validate.h"
#include "cli/probe/launch.h"
#include "cli/quickstart/quickstart_experiments.h"
#include "cli/quickstart/quickstart_summary.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "planner/exact/exhaustive.h"
#include "reports/report.h"
#include "sextant/error.h"
#include "sextant/fit.h"
#include "sextant/predict.h"
#include "sextant/statistics.h"

namespace sextant::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string out = "sextant-quickstart";
  int ranks = 2;
  unsigned seed = 1;
  double hold_out = 1.0 / 3;
  bool json = false;
};

constexpr int kFolds = 6;                // of the cross-validation that intervals come from
constexpr std::size_t kRankedPlans = 4;  // of the planner's best, measured beside the customary layouts

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Quickstart {
 public:
  explicit Quickstart(const Options& options)
      : options_(options), folder_(options.out), ranks_(usable_ranks(options.ranks)) {}

  int run() {
    const auto start = std::chrono::steady_clock::now();
    fs::create_directories(folder_);
    probe();
    measure();
    calibrate_and_validate();
    plan();
    run_plans();
    summary_.ranks = ranks_;
    summary_.wall_s = seconds_since(start);
    save_document(file("summary.json"), summary_);
    report();
    if (options_.json) {
      print_document(summary_);
    } else {
      std::fputs(describe(summary_).c_str(), stdout);
      print_line("report: " + file("report.html"));
    }
    return kDone;
  }

 private:
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }

  void say(const std::string& step) const { std::fprintf(stderr, "== %s\n", step.c_str()); }

  void probe() {
    say("probe: this machine as a cluster of " + std::to_string(ranks_) + (ranks_ == 1 ? " core" : " cores"));
    run_quietly(
        {"probe", "--devices", "cpu", "--out", file("cluster.json"), "--samples", file("probe_samples.json")});
    cluster_ = load_document<Cluster>(file("cluster.json"));
  }

  void measure() {
    const Experiments experiments = calibration_experiments(ranks_);
    summary_.configurations = static_cast<int>(experiments.experiments.size());
    say("proxy: " + std::to_string(summary_.configurations) + " configurations");
    save_document(file("experiments.json"), experiments);
    run_quietly({"proxy", "--cluster", file("cluster.json"), "--experiments", file("experiments.json"), "--out",
                 file("runs.json"), "--passes", "4", "--budget", "0.5", "--min-iterations", "1",
                 "--max-iterations", "3", "--spread", "0.01"});
    runs_ = load_document<Runs>(file("runs.json"));
  }

  void calibrate_and_validate() {
    const Split split = split_runs(runs_.content, options_.hold_out, HoldOutBy::workflow, options_.seed);
    say("calibrate: " + std::to_string(split.fit.size()) + " runs; " + std::to_string(split.held_out.size()) +
        " held out, as whole workflows");
    coefficients_ = fit_coefficients(runs_.content, split.fit);
    const Runs seen = subset(runs_.content, split.fit);
    const auto folds = leave_groups_out(seen, group_key(seen, LeaveOut::workflow), kFolds, options_.seed);
    coefficients_.fit->held_out = summary_of(seen, cross_validate(seen, folds), LeaveOut::workflow);
    save_document(file("coefficients.json"), coefficients_);
    say("validate");
    accuracy_ = validate(runs_.content, coefficients_);
    save_document(file("accuracy.json"), accuracy_);
    summary_.held_out_configurations = accuracy_.held_out_iterations.count;
    summary_.held_out_task_mape = accuracy_.held_out_tasks.mape;
    summary_.held_out_iteration_mape = accuracy_.held_out_iterations.mape;
  }

  void plan() {
    workflow_ = target_workflow();
    say("plan: " + workflow_.name);
    save_document(file("workflow.json"), workflow_);
    const PlanRequest request{cluster_.content, workflow_, coefficients_, std::string(kAny), {}};
    ranked_ = rank_exhaustively(request, kRankedPlans);
    if (ranked_.empty()) throw_machine_failed(plan_exhaustively(request).message);
    const PredictionQuery asked{cluster_.content, workflow_, *ranked_.front().plan, coefficients_, kAny};
    qualify(*ranked_.front().prediction, asked);
    ranked_.front().prediction->sensitivities = sensitivities_of(asked);
    ranked_.front().prediction->coefficients = file("coefficients.json");
    ranked_.front().prediction->framework = kAny;
    save_document(file("plan.json"), *ranked_.front().plan);
    save_document(file("prediction.json"), *ranked_.front().prediction);
    summary_.plan = describe(*ranked_.front().plan);
    summary_.predicted_iteration_s = ranked_.front().prediction->iteration_s;
  }

  // Runs the chosen plan beside its nearest rivals and the customary layouts, in rounds.
  void run_plans() {
    Experiments experiments;
    experiments.workflows[workflow_.name] = workflow_;
    const auto add = [&](const std::string& name, const Plan& plan) {
      const bool known = std::any_of(experiments.plans.begin(), experiments.plans.end(),
                                     [&](const auto& entry) { return entry.second.tasks == plan.tasks; });
      if (known) return;
      experiments.plans[name] = plan;
      experiments.experiments.push_back({name, workflow_.name, name});
    };
    for (std::size_t i = 0; i < ranked_.size(); ++i) add("planned-" + std::to_string(i + 1), *ranked_[i].plan);
    for (const auto& [name, plan] : customary_plans(workflow_, ranks_)) add(name, plan);
    say("run the plan and " + std::to_string(experiments.experiments.size() - 1) + " others");
    save_document(file("plan_experiments.json"), experiments);
    run_quietly({"proxy", "--cluster", file("cluster.json"), "--experiments", file("plan_experiments.json"),
                 "--out", file("plan_runs.json"), "--interleave", "--max-iterations", "9"});
    const Runs measured = load_document<Runs>(file("plan_runs.json")).content;
    // The plans ran in turns: what slowed a whole round down was not the plans.
    std::vector<std::vector<double>> rounds;
    for (const Run& run : measured.runs) rounds.push_back(run.iteration.samples_s);
    const std::vector<double> times_s = medians_in_rounds(rounds);
    double chosen_s = 0, fastest_s = 0;
    for (std::size_t i = 0; i < times_s.size(); ++i) {
      const std::string& name = measured.runs[i].name;
      if (name == "planned-1") chosen_s = times_s[i];
      if (fastest_s == 0 || times_s[i] < fastest_s) {
        fastest_s = times_s[i];
        summary_.fastest_plan = name;
      }
    }
    summary_.measured_plans = static_cast<int>(measured.runs.size());
    summary_.measured_iteration_s = chosen_s;
    summary_.plan_regret_fraction = chosen_s / fastest_s - 1;
  }

  void report() {
    say("report");
    ReportInput input;
    input.title = "Sextant quickstart";
    input.cluster = cluster_;
    input.runs = runs_;
    input.coefficients = load_document<Coefficients>(file("coefficients.json"));
    input.accuracy = load_document<Accuracy>(file("accuracy.json"));
    input.plan = load_document<Plan>(file("plan.json"));
    input.prediction = load_document<Prediction>(file("prediction.json"));
    input.notes = sentences(summary_);
    write_text_file(file("report.html"), render_html(input));
    write_text_file(file("report.md"), render_markdown(input));
  }

  // The commands print tables for a person who calls them; here only their documents matter.
  void run_quietly(const std::vector<std::string>& arguments) const {
    run_on_ranks(ranks_, arguments, Output::discarded);
  }

  Options options_;
  fs::path folder_;
  int ranks_;
  Document<Cluster> cluster_;
  Document<Runs> runs_;
  Coefficients coefficients_;
  Accuracy accuracy_;
  Workflow workflow_;
  std::vector<PlanResult> ranked_;
  QuickstartSummary summary_;
};

}  // namespace

void add_quickstart(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command = line.add_command("quickstart", "Run the whole loop on this machine in a few minutes");
  command.add_output_folder("--out", options->out, "Folder for all files that it writes").shows_default();
  command.add_option("--ranks", options->ranks, "Number of cores to use as devices")
      .check(integer_between(1, 2))
      .shows_default();
  command.add_option("--seed", options->seed, "Random seed for the choice of held-out workflows")
      .shows_default();
  command.add_flag("--json", options->json, "Print the summary document instead of a table");
  command.footer(
      "Writes cluster.json, runs.json, coefficients.json, accuracy.json, plan.json, report.html, summary.json "
      "and\n"
      "the intermediate documents.\n"
      "Example: sextant quickstart --out sextant-quickstart");
  command.runs([options] { return Quickstart(*options).run(); });
}

}  // namespace sextant::cli
