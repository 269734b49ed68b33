// sextant coefficients: what the fit can move, with units, bounds and priors. The lab shows what measured
// tables say about the priors.
#include <memory>
#include <vector>

#include "cli/shared/command.h"
#include "cli/shared/lab.h"
#include "cli/shared/table.h"
#include "core/json_value.h"
#include "core/text.h"
#include "core/units.h"
#include "reports/coefficients_markdown.h"
#include "sextant/coefficients.h"
#include "sextant/error.h"

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
  return table.text_with(below) +
         "Deviations are standard deviations of the logarithm, those with + of the value.\n";
}

[[noreturn]] void run_evidence(const Options& options) {
  std::vector<std::string> words = {"sextant", "evidence"};
  if (!options.prefix.empty()) words.push_back(options.prefix);
  if (options.json) words.emplace_back("--json");
  if (!options.data.empty()) words.insert(words.end(), {"--data", options.data});
  run_in_lab(words);
}

int run(const Options& options) {
  if (options.markdown) {
    std::fputs(coefficients_as_markdown().c_str(), stdout);
    return kDone;
  }
  const std::vector<const CoefficientSpec*> specs = chosen(options.prefix);
  if (options.evidence) run_evidence(options);
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
  const Command command = line.add_command(
      "coefficients", "List the coefficients of the cost model: units, neutral values, bounds and priors");
  command.add_option("names", options->prefix, "Prefix of the names to list: decode, weight_sync, ...");
  command.add_flag("--json", options->json, "Print JSON instead of a table");
  const Option markdown =
      command.add_flag("--markdown", options->markdown, "Print the page docs/coefficients.md");
  const Option evidence = command.add_flag(
      "--evidence", options->evidence,
      "Compare the priors with measured kernels, collectives and weight transfers (data/public/kernels)");
  evidence.excludes(markdown);
  command.add_option("--data", options->data, "With --evidence: data folder (default: the installed one)")
      .needs(evidence);
  command.footer("Example: sextant coefficients tensor_parallel --evidence");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
