// sextant coefficients: what the fit can move, with units, bounds and priors.
#include <memory>
#include <vector>

#include "cli/command.h"
#include "cli/table.h"
#include "core/error.h"
#include "core/json_value.h"
#include "core/text.h"
#include "core/units.h"
#include "costmodel/vocabulary/coefficients.h"
#include "reports/coefficients_markdown.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string prefix;
  bool json = false;
  bool markdown = false;
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
  const std::string rows = table.text();
  std::string out;
  std::size_t line = 0;
  for (std::size_t from = 0; from < rows.size(); ++line) {
    const std::size_t end = rows.find('\n', from) + 1;
    out += rows.substr(from, end - from);
    if (line > 0) out += "    " + std::string(specs[line - 1]->help) + "\n";
    from = end;
  }
  return out + "Deviations are of the logarithm, those with + of the value.\n";
}

int run(const Options& options) {
  if (options.markdown) {
    std::fputs(coefficients_as_markdown().c_str(), stdout);
    return kDone;
  }
  const std::vector<const CoefficientSpec*> specs = chosen(options.prefix);
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

void add_coefficients(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("coefficients", "What the fit can move: units, neutral values, bounds and priors");
  command->add_option("names", options->prefix, "Only those whose names start so: decode, weight_sync, ...");
  command->add_flag("--json", options->json, "Print them as JSON");
  command->add_flag("--markdown", options->markdown, "Print all as docs/coefficients.md");
  command->footer("Example: sextant coefficients decode");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sextant::cli
