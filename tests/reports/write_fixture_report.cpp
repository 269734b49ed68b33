// write_fixture_report one|two|sixteen|many|empty FILE.html: a page of the fixture for the browser test, with
// the Markdown and the JSON beside it.
#include <filesystem>
#include <iostream>
#include <map>

#include "core/json_value.h"
#include "reports/report.h"
#include "sextant/document.h"
#include "tests/reports/fixture.h"

int main(int argc, char** argv) {
  using namespace sextant;
  const std::map<std::string, ReportInput (*)()> inputs = {
      {"one", [] { return fixture_report(one_core()); }},
      {"two", [] { return fixture_report(two_cores()); }},
      {"sixteen", [] { return fixture_report(sixteen_gpus()); }},
      {"many", [] { return fixture_report(many_gpus(16)); }},
      {"empty", [] { return ReportInput{}; }},
  };
  if (argc != 3 || !inputs.contains(argv[1])) {
    std::cerr << "usage: write_fixture_report one|two|sixteen|many|empty FILE.html\n";
    return 2;
  }
  const ReportInput input = inputs.at(argv[1])();
  const std::filesystem::path file = argv[2];
  write_text_file(file, render_html(input));
  write_text_file(std::filesystem::path(file).replace_extension(".md"), render_markdown(input));
  write_text_file(std::filesystem::path(file).replace_extension(".json"), format_json(report_json(input)));
  return 0;
}
