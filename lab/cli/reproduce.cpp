// sextant reproduce: the experiments of papers under the model, beside what the papers print.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "ask/coefficient_source.h"
#include "ask/data_files.h"
#include "calibrate/import/records/facts.h"
#include "cli/command_line/checks.h"
#include "cli/shared/command.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/notes.h"
#include "cli/shared/table.h"
#include "core/progress.h"
#include "core/text.h"
#include "core/units.h"
#include "lab/cli/lab_commands.h"
#include "lab/reproduce/compare.h"
#include "lab/reproduce/reproduction_markdown.h"
#include "lab/reproduce/run_study.h"
#include "sextant/error.h"
#include "sextant/search.h"

namespace sextant::cli {
namespace {

struct Options {
  std::vector<std::string> experiments;
  StudyOptions study;
  std::optional<double> budget_s;
  std::optional<std::uint64_t> evaluations;
  std::optional<int> threads;
  std::string coefficients;
  std::string out;
  std::string markdown;
  bool json = false;
};

const std::vector<std::string>& experiment_names() {
  static const std::vector<std::string> names = {"hetrl",
                                                 "hetrl-shared-links",
                                                 "hetrl-broadcast",
                                                 "hetrl-equal-degrees",
                                                 "hetrl-eight-steps",
                                                 "hetrl-balance",
                                                 "areal-hex",
                                                 "areal-hex-pair-links",
                                                 "areal-hex-weave-h800",
                                                 "areal-hex-table-1",
                                                 "areal-hex-tables-1-and-3",
                                                 "real",
                                                 "real-micro-batches",
                                                 "weave"};
  return names;
}

Study load_study(const std::string& name) {
  const std::filesystem::path data = data_folder();
  const Facts facts = Facts::load(data / "gpus.json", data / "models.json");
  if (name == "hetrl") return hetrl_study(facts);
  if (name == "hetrl-shared-links") return hetrl_study(facts, HetrlReading::shared_links);
  if (name == "hetrl-broadcast") return hetrl_study(facts, HetrlReading::broadcast);
  if (name == "hetrl-equal-degrees") return hetrl_study(facts, HetrlReading::equal_degrees);
  if (name == "hetrl-eight-steps") return hetrl_study(facts, HetrlReading::eight_steps);
  if (name == "hetrl-balance") return hetrl_balance_study(facts);
  if (name == "areal-hex-pair-links") return areal_hex_study(facts, HexReading::links_of_pairs);
  if (name == "areal-hex-weave-h800") return areal_hex_study(facts, HexReading::weave_h800);
  if (name == "areal-hex-table-1") return areal_hex_study(facts, HexReading::table_1);
  if (name == "areal-hex-tables-1-and-3") return areal_hex_study(facts, HexReading::tables_1_and_3);
  if (name == "areal-hex") return areal_hex_study(facts);
  if (name == "weave") return weave_study(facts);
  const Runs published = load_document<Runs>(data / "runs" / "rl.json").content;
  return real_study(published, name == "real" ? RealReading::as_read : RealReading::micro_batches);
}

std::vector<Study> load_studies(const std::vector<std::string>& names) {
  std::vector<Study> studies;
  for (const std::string& name : experiment_names()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) studies.push_back(load_study(name));
  }
  return studies;
}

[[noreturn]] void refuse_filter(const std::vector<Study>& studies, const std::string& only) {
  std::string cells;
  for (const Study& study : studies) {
    for (const StudyCell& cell : study.cells) cells += (cells.empty() ? "" : ", ") + cell.name;
  }
  throw_bad_input("--only: no cell's name contains " + in_quotes(only) + " (there are " + cells + ")");
}

std::size_t count_cells(const std::vector<Study>& studies, const std::string& only) {
  std::size_t cells = 0;
  for (const Study& study : studies) cells += wanted_cells(study, only).size();
  if (cells == 0) refuse_filter(studies, only);
  return cells;
}

// Each note once, however many cells it is about.
class CoefficientSource {
 public:
  explicit CoefficientSource(std::string asked) : asked_(std::move(asked)) {}

  StudyCoefficients operator()(const std::string& framework, const Cluster& cluster) {
    ChosenCoefficients chosen = choose_coefficients(asked_, framework, cluster);
    for (const std::string& note : chosen.notes) {
      if (said_.insert(note).second) say({note});
    }
    const std::filesystem::path file = chosen.name;
    return {std::move(chosen.coefficients), file.filename().string(), chosen.framework};
  }

 private:
  std::string asked_;
  std::set<std::string> said_;
};

Reproduction reproduce(Options& options, const std::vector<Study>& studies) {
  const std::size_t cells = count_cells(studies, options.study.only);
  const Interrupt interrupt;
  Progress progress("cell", cells);
  CoefficientSource coefficients(options.coefficients);
  options.study.is_cancelled = &interrupt.flag();
  options.study.on_cell = [&](const std::string& cell) { progress.step(cell); };
  options.study.coefficients = std::ref(coefficients);
  if (options.budget_s) options.study.budget = {*options.budget_s};
  if (options.evaluations) options.study.budget = {0, *options.evaluations};
  options.study.threads =
      options.threads.value_or(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  Reproduction out{options.study.budget.seconds,
                   options.study.budget.evaluations,
                   options.study.seed,
                   options.study.threads,
                   false,
                   {}};
  for (const Study& study : studies) {
    if (wanted_cells(study, options.study.only).empty() || interrupt.came()) continue;
    ReproducedExperiment experiment = run_study(study, options.study);
    if (!experiment.cells.empty()) out.experiments.push_back(std::move(experiment));
  }
  out.was_interrupted = interrupt.came();
  return out;
}

std::string shown(const ReproducedPlan& plan, double value) {
  return plan.has_plan() ? format_number(value) : "none fits";
}

std::string describe(const ReproducedExperiment& experiment) {
  Table plans({"cell", "plan", "iteration", "sequences/s", "tokens/s", "weight sync", "$/h"});
  for (const ReproducedCell& cell : experiment.cells) {
    for (const ReproducedPlan& plan : cell.plans) {
      plans.add({cell.name, plan.name, plan.has_plan() ? format_seconds(plan.iteration_s) : "none fits",
                 shown(plan, plan.sequences_per_s), shown(plan, plan.tokens_per_s),
                 plan.has_plan() ? format_seconds(plan.weight_sync_s) : "",
                 plan.usd_per_hour > 0 ? format_number(plan.usd_per_hour) : ""});
    }
  }
  Table groups({"figure", "ours", "published", "agree", "source"});
  for (const ComparisonGroup& group : groups_of(experiment)) {
    groups.add({group.name, group.ours, group.published,
                std::to_string(group.agreeing) + " of " + std::to_string(group.all), group.source});
  }
  std::string out = experiment.name + ": " + experiment.paper + "\n\n" + plans.text() + "\n" + groups.text();
  for (const Comparison& one : experiment.comparisons) {
    if (!one.agrees) out += one.group + ", " + one.cell + ": " + one.sentence + "\n";
  }
  out +=
      "\n"
      "assumed, because the paper does not state it or states it differently:\n";
  for (const std::string& sentence : experiment.assumptions) out += "- " + sentence + "\n";
  return out;
}

std::string command_line() { return current_provenance().command; }

// Everything is written before anything is said.
void write_outputs(const Options& options, const Reproduction& reproduction, const std::string& command) {
  if (!options.out.empty()) save_document(options.out, reproduction);
  if (!options.markdown.empty())
    write_text_file(options.markdown, reproduction_as_markdown(reproduction, command));
  if (options.json) {
    print_document(reproduction);
  } else {
    for (const ReproducedExperiment& experiment : reproduction.experiments) print_line(describe(experiment));
  }
  if (reproduction.was_interrupted) std::fprintf(stderr, "interrupted: these are the finished cells\n");
  for (const std::string& file : {options.out, options.markdown}) {
    if (!file.empty()) say_wrote(file);
  }
}

int run(Options options) {
  const std::string command = command_line();  // before the coefficients that are chosen join it
  const Reproduction reproduction = reproduce(options, load_studies(options.experiments));
  write_outputs(options, reproduction, command);
  return kDone;
}

}  // namespace

void add_reproduce(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command =
      line.add_command("reproduce", "Compare experiments of papers under the model with the published numbers");
  command
      .add_option("experiments", options->experiments,
                  "hetrl, hetrl-balance, areal-hex, real, weave, or a variant of one of these")
      .required()
      .check(one_of(experiment_names()));
  const Option seconds =
      command.add_option("--budget", options->budget_s, "Time limit in seconds for each search (default: 2)")
          .check(positive_number());
  command
      .add_option("--evaluations", options->evaluations,
                  "Plans to evaluate, or tree nodes to visit, for each search: same figures on any machine")
      .check(integer_between(1, SearchRecord::kMaxCount))
      .excludes(seconds);
  command.add_option("--seed", options->study.seed, "Random seed for randomised planners")
      .check(integer_between(0, SearchRecord::kMaxCount))
      .shows_default();
  constexpr int kMaxThreads = 4096;
  command
      .add_option("--threads", options->threads, "Threads, for planners that use several (default: all cores)")
      .check(integer_between(1, kMaxThreads));
  command.add_option("--only", options->study.only,
                     "Only cells whose names contain this text, such as single-region/Qwen3-8B");
  command.add_option("--coefficients", options->coefficients,
                     "Coefficients document, or none (default: the installed one for the paper's framework)");
  command.add_output("--out", options->out, "Write the reproduction document here");
  command.add_output("--markdown", options->markdown, "Write the tables and comments here as Markdown");
  command.add_flag("--json", options->json, "Print the reproduction document instead of tables");
  command.footer(
      "Nothing is measured: the planners plan the papers' workflows on the papers' clusters, and the model "
      "predicts\n"
      "their plans. A figure that is more than 10 % outside the published range comes with an explanation.\n"
      "Ctrl-C keeps the finished cells.\n"
      "Example: sextant reproduce hetrl --only single-region/Qwen3-8B --budget 1");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
