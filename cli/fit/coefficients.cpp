// sextant coefficients: what the fit can move, with units, bounds and priors, and what measured tables say of
// these.
#include <memory>
#include <vector>

#include "calibrate/priors/prior_evidence.h"
#include "cli/shared/command.h"
#include "cli/shared/data_files.h"
#include "cli/shared/table.h"
#include "core/error.h"
#include "core/json_value.h"
#include "core/text.h"
#include "core/units.h"
#include "documents/coefficients.h"
#include "reports/coefficients_markdown.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string prefix;
  bool json = false;
  bool markdown = false;
  bool evidence = false;
  std::string data;
};

std::vector<const CoefficientSpec*> chosen(const std::string& prefix) {
  std::vector<const CoefficientSpec*> specs;
  for (const CoefficientSpec& spec : coefficient_table()) {
    if (spec.name.starts_with(prefix)) specs.push_back(&spec);
  }
  if (specs.empty()) throw_bad_input("no coefficient's name starts with " + in_quotes(prefix));
  return specs;
}

Json to_json(const CoefficientSpec& spec) {
  return {{"name", spec.name},
          {"unit", spec.unit},
          {"neutral", spec.neutral},
          {"lower", spec.lower},
          {"upper", spec.upper},
          {"prior", spec.prior},
          {"prior_on_cpu", prior_on_cpu(spec.id)},
          {"prior_deviation", spec.prior_deviation},
          {"scale", spec.scale == CoefficientScale::logarithmic ? "logarithmic" : "linear"},
          {"type_deviation", spec.type_deviation},
          {"framework_deviation", spec.framework_deviation},
          {"source", spec.source},
          {"help", spec.help}};
}

std::string deviation_of(const CoefficientSpec& spec) {
  const std::string of_value = spec.scale == CoefficientScale::linear ? "+" : "";
  return of_value + format_number(spec.prior_deviation);
}

// below: after each row of the table.
std::string with_lines_below(const Table& table, const std::vector<std::string>& below) {
  const std::string rows = table.text();
  std::string out;
  std::size_t line = 0;
  for (std::size_t from = 0; from < rows.size(); ++line) {
    const std::size_t end = rows.find('\n', from) + 1;
    out += rows.substr(from, end - from);
    if (line > 0) out += below[line - 1];
    from = end;
  }
  return out;
}

// A row of numbers and below it what they mean.
std::string describe(const std::vector<const CoefficientSpec*>& specs) {
  Table table({"coefficient", "unit", "neutral", "bounds", "prior", "deviation", "by type", "by framework"});
  for (const CoefficientSpec* spec : specs) {
    table.add({std::string(spec->name), std::string(spec->unit), format_number(spec->neutral),
               format_number(spec->lower) + " to " + format_number(spec->upper), format_number(spec->prior),
               deviation_of(*spec), spec->by_device_type() ? format_number(spec->type_deviation) : "",
               spec->by_framework() ? format_number(spec->framework_deviation) : ""});
  }
  std::vector<std::string> below;
  below.reserve(specs.size());
  for (const CoefficientSpec* spec : specs) {
    below.push_back("    " + std::string(spec->help) + "\n    prior from: " + std::string(spec->source) + "\n");
  }
  return with_lines_below(table, below) + "Deviations are of the logarithm, those with + of the value.\n";
}

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
  return with_lines_below(table, below) +
         "\"at most\" and \"at least\": the coefficient lies on that side of it, see "
         "data/public/kernels/README.md.\n"
         "Deviations away: of the prior's own width with that of device types and frameworks, beyond a bound's "
         "far "
         "end.\n";
}

void print_evidence(const Options& options) {
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
}

int run(const Options& options) {
  if (options.markdown) {
    std::fputs(coefficients_as_markdown().c_str(), stdout);
    return kDone;
  }
  const std::vector<const CoefficientSpec*> specs = chosen(options.prefix);
  if (options.evidence) {
    print_evidence(options);
    return kDone;
  }
  if (options.json) {
    Json out = Json::array();
    for (const CoefficientSpec* spec : specs) out.push_back(to_json(*spec));
    print_line(format_json(out));
  } else {
    std::fputs(describe(specs).c_str(), stdout);
  }
  return kDone;
}

}  // namespace

void add_coefficients(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command =
      line.add_command("coefficients", "What the fit can move: units, neutral values, bounds and priors");
  command.add_option("names", options->prefix, "Only those whose names start so: decode, weight_sync, ...");
  command.add_flag("--json", options->json, "Print them as JSON");
  const Option markdown =
      command.add_flag("--markdown", options->markdown, "Print all as docs/coefficients.md");
  const Option evidence = command.add_flag(
      "--evidence", options->evidence,
      "What measured kernels, collectives and weight transfers (data/public/kernels) say about the priors");
  evidence.excludes(markdown);
  command.add_option("--data", options->data, "With --evidence: the data folder (default: the one that ships)")
      .needs(evidence);
  command.footer("Example: sextant coefficients tensor_parallel --evidence");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
