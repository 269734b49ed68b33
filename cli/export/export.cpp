// sextant export: coefficients in another program's form.
#include <memory>

#include "cli/shared/coefficient_source.h"
#include "cli/shared/command.h"
#include "reports/export/coefficients_export.h"
#include "sextant/document.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string coefficients;
  std::string form = "json";
  std::string framework{kAny};
  std::string out;
};

std::string exported(const std::string& form, const std::string& framework, const Coefficients& coefficients) {
  if (form == "csv") return coefficients_as_csv(coefficients);
  if (form == "header") return coefficients_as_header(coefficients, framework);
  return coefficients_as_json(coefficients, framework);
}

int run(const Options& options) {
  const Coefficients coefficients = load_document<Coefficients>(options.coefficients).content;
  std::vector<std::string> notes;
  const std::string framework = find_framework(coefficients, options.coefficients, options.framework, notes);
  say(notes);
  const std::string text = exported(options.form, framework, coefficients);
  if (options.out.empty()) {
    std::fputs(text.c_str(), stdout);
    return kDone;
  }
  write_text_file(options.out, text);
  say_wrote(options.out);
  return kDone;
}

}  // namespace

void add_export(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command = line.add_command("export", "Export coefficients as plain JSON, CSV or a C++ header");
  command.add_option("coefficients", options->coefficients, "Coefficients document").required();
  command.add_option("--to", options->form, "json (values by device type), csv (all entries) or header (C++)")
      .check(one_of({"json", "csv", "header"}))
      .shows_default();
  command.add_option("--framework", options->framework, "Framework whose values are exported (json, header)");
  command.add_option("--out", options->out, "File to write (default: standard output)");
  command.footer("Example: sextant export coefficients.json --to header --out coefficients.h");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
