// sextant-lab evidence: what measured kernels, collectives and weight transfers say about the priors of
// coefficients.
#include <memory>
#include <vector>

#include "ask/data_files.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/json_value.h"
#include "core/text.h"
#include "core/units.h"
#include "lab/cli/lab_commands.h"
#include "lab/priors/prior_evidence.h"
#include "sextant/coefficients.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string prefix;
  std::string data;
  bool json = false;
};

std::string shown_value(const PriorEvidence& evidence) {
  if (evidence.relation == EvidenceRelation::equals) return format_number(evidence.median);
  return std::string(name_of(evidence.relation)) + " " + format_number(evidence.median);
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "not stated" : out;
}

// A row of numbers and below it what was computed, of which devices.
std::string describe(const std::vector<PriorEvidence>& all) {
  Table table({"coefficient", "prior", "evidence", "5 to 95 %", "rows", "deviations away", "table"});
  for (const PriorEvidence& evidence : all) {
    const CoefficientSpec& spec = spec_of(evidence.id);
    const bool agrees = evidence.distance() <= kAgreement;
    table.add({std::string(spec.name), format_number(spec.prior), shown_value(evidence),
               format_number(evidence.low) + " to " + format_number(evidence.high),
               std::to_string(evidence.rows), (agrees ? "" : "DISAGREES ") + format_number(evidence.distance()),
               evidence.table});
  }
  std::vector<std::string> below;
  below.reserve(all.size());
  for (const PriorEvidence& evidence : all) {
    below.push_back("    " + evidence.measure + "\n    " + listed(evidence.device_types) + "\n");
  }
  return table.text_with(below) +
         "\"at most\" and \"at least\": the coefficient lies on that side of it, see "
         "data/public/kernels/README.md.\n"
         "Deviations away: of the prior's own width with that of device types and frameworks, beyond a bound's "
         "far "
         "end.\n";
}

int run(const Options& options) {
  const std::filesystem::path data = options.data.empty() ? data_folder() : std::filesystem::path(options.data);
  const Facts facts = Facts::load(data / "gpus.json", data / "models.json");
  std::vector<PriorEvidence> shown;
  for (PriorEvidence& evidence : evidence_of_priors(data / "public/kernels", facts)) {
    if (spec_of(evidence.id).name.starts_with(options.prefix)) shown.push_back(std::move(evidence));
  }
  if (options.json) {
    Json out = Json::array();
    for (const PriorEvidence& evidence : shown) out.push_back(evidence.to_json());
    print_line(format_json(out));
  } else if (shown.empty()) {
    print_line("The tables of data/public/kernels bear on no coefficient whose name starts with " +
               in_quotes(options.prefix) + ".");
  } else {
    std::fputs(describe(shown).c_str(), stdout);
  }
  return kDone;
}

}  // namespace

void add_evidence(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command =
      line.add_command("evidence", "Compare the priors of coefficients with measured tables");
  command.add_option("names", options->prefix, "Prefix of the names to list: decode, weight_sync, ...");
  command.add_flag("--json", options->json, "Print JSON instead of a table");
  command.add_option("--data", options->data, "Data folder (default: the installed one)");
  command.footer("Example: sextant coefficients tensor_parallel --evidence");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
