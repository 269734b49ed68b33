// sextant accuracy: the accuracy figures of this repository, recomputed.
#include <memory>

#include "calibrate/claims/claims.h"
#include "cli/command.h"
#include "cli/data_files.h"
#include "cli/table.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string prefix;
  std::string data;
  std::string out;
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

std::string describe(const ClaimReport& report) {
  Table table({"figure", "value", "threshold", "", "records", "free coefficients", "protocol"});
  for (const Claim& claim : report.claims) {
    table.add({claim.name, claim.kind == ClaimKind::at_least ? format_number(claim.value) : format_percent(claim.value),
               shown_bound(claim), claim.met() ? "met" : "MISSED", std::to_string(claim.records),
               std::to_string(claim.free_coefficients), claim.protocol});
  }
  Table worst({"figure", "run", "what", "measured", "predicted", "error"});
  for (const WorstRecord& record : report.worst) {
    worst.add({record.claim, record.run, record.what, format_number(record.measured),
               format_number(record.predicted), format_percent(record.predicted / record.measured - 1)});
  }
  return table.text() + "\n" + worst.text();
}

int run(const Options& options) {
  ClaimContext context;
  context.data = options.data.empty() ? data_folder() : std::filesystem::path(options.data);
  context.facts = Facts::load(context.data / "gpus.json", context.data / "models.json");
  context.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  const ClaimReport report = compute_claims(context, options.prefix);
  if (options.json) {
    print_document(report);
  } else {
    std::fputs(describe(report).c_str(), stdout);
  }
  if (!options.out.empty()) {
    save_document(options.out, report);
    say_wrote(options.out);
  }
  return report.all_met() ? kDone : kAnswerIsNo;
}

}  // namespace

void add_accuracy(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("accuracy", "Recompute the accuracy figures on the public measurements");
  command->add_option("figures", options->prefix, "Only figures of this family: vtrain, sailor, ...");
  command->add_option("--data", options->data, "Folder of the published data");
  command->add_option("--out", options->out, "Write the claims document here");
  command->add_flag("--json", options->json, "Print the claims document instead of tables");
  command->footer("Exits 1 when a figure misses its threshold.\nExample: sextant accuracy vtrain");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sextant::cli
