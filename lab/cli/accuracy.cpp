// sextant accuracy: the accuracy figures of this repository, recomputed.
#include <memory>

#include "ask/data_files.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "lab/claims/claims.h"
#include "lab/claims/claims_markdown.h"
#include "lab/claims/public_fit.h"
#include "lab/cli/lab_commands.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string prefix;
  std::string data;
  std::string out;
  std::string markdown;
  std::string coefficients;
  std::size_t worst = 10;
  bool json = false;
};

std::string shown_bound(const Claim& claim) {
  switch (claim.kind) {
    case ClaimKind::at_most:
      return "at most " + format_percent(claim.threshold);
    case ClaimKind::at_least:
      return "at least " + format_number(claim.threshold);
    case ClaimKind::between:
      return format_percent(claim.threshold) + " to " + format_percent(claim.upper);
  }
  return "";
}

std::string shown_value(const Claim& claim, double value) {
  return claim.kind == ClaimKind::at_least ? format_number(value) : format_percent(value);
}

// The bound that a test enforces for a missed figure until it is met.
std::string shown_held(const Claim& claim) {
  if (claim.met()) return "";
  return claim.held ? shown_value(claim, *claim.held) : "not held";
}

std::string describe(const ClaimReport& report) {
  Table table({"figure", "value", "threshold", "", "held at", "records", "free coefficients", "protocol"});
  for (const Claim& claim : report.claims) {
    table.add({claim.name, shown_value(claim, claim.value), shown_bound(claim), claim.met() ? "met" : "MISSED",
               shown_held(claim), std::to_string(claim.records), std::to_string(claim.free_coefficients),
               claim.protocol});
  }
  Table worst({"figure", "run", "what", "measured", "predicted", "error", "likely cause"});
  for (const WorstRecord& record : report.worst) {
    worst.add({record.claim, record.run, record.what, format_number(record.measured),
               format_number(record.predicted), format_percent(record.predicted / record.measured - 1),
               record.cause.empty() ? "unknown" : record.cause});
  }
  return table.text() + "\n" + worst.text();
}

// One document a family of frameworks, of the fit to the public runs of its kind.
void ship(const Options& options, const ClaimContext& context, const ClaimReport& report) {
  std::filesystem::create_directories(options.coefficients);
  for (const auto& [family, coefficients] : fit_public_runs(context, report.held_out)) {
    const std::filesystem::path file = std::filesystem::path(options.coefficients) / (family + ".json");
    save_document(file, coefficients);
    say_wrote(file.string());
  }
}

int run(const Options& options) {
  ClaimContext context;
  context.data = options.data.empty() ? data_folder() : std::filesystem::path(options.data);
  context.facts = Facts::load(context.data / "gpus.json", context.data / "models.json");
  context.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  context.worst_kept = options.worst;
  ClaimReport report = compute_claims(context, options.prefix);
  if (!options.coefficients.empty()) {
    ship(options, context, report);
    context.coefficients = options.coefficients;
    judge_shipped_again(context, report);
  }
  if (options.json) {
    print_document(report);
  } else {
    std::fputs(describe(report).c_str(), stdout);
  }
  if (!options.out.empty()) {
    save_document(options.out, report);
    say_wrote(options.out);
  }
  if (!options.markdown.empty()) {
    write_text_file(options.markdown, claims_as_markdown(report));
    say_wrote(options.markdown);
  }
  return report.all_met() ? kDone : kAnswerIsNo;
}

}  // namespace

void add_accuracy(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command =
      line.add_command("accuracy", "Recompute the accuracy figures on the public measurements");
  command.add_option("figures", options->prefix, "Prefix of the figures to compute: vtrain, real.tasks, ...");
  command.add_option("--data", options->data, "Folder of the published data");
  command.add_output("--out", options->out, "Write the claims document here");
  command.add_output("--markdown", options->markdown,
                     "Write the figures and the worst records here as Markdown");
  command.add_option(
      "--coefficients", options->coefficients,
      "Also fit the public runs and write one coefficients document per framework family to this folder");
  command.add_option("--worst", options->worst, "Number of worst records to list for each figure")
      .check(integer_between(0, 1000000))
      .shows_default();
  command.add_flag("--json", options->json, "Print the claims document instead of tables");
  command.footer(
      "Exits 1 if a figure misses its threshold. \"held at\": value that the test of a missed figure allows "
      "until it is met.\n"
      "Example: sextant accuracy vtrain");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
