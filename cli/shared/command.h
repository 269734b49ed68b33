// Shared by the commands: their registration, exit codes, printing.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command_line.h"
#include "cli/shared/document_output.h"
#include "cli/shared/exit_codes.h"
#include "core/json_value.h"
#include "probes/comm/communicator.h"
#include "sextant/document.h"

namespace sextant::cli {

// Each adds one command.
void add_agent(CommandLine& line);
void add_check(CommandLine& line);
void add_coefficients(CommandLine& line);
void add_compare(CommandLine& line);
void add_completion(CommandLine& line);
void add_coschedule(CommandLine& line);
void add_diff(CommandLine& line);
void add_export(CommandLine& line);
void add_import(CommandLine& line);
void add_init(CommandLine& line);
void add_list(CommandLine& line);
void add_probe(CommandLine& line);
void add_proxy(CommandLine& line);
void add_trace(CommandLine& line);
void add_calibrate(CommandLine& line);
void add_validate(CommandLine& line);
void add_predict(CommandLine& line);
void add_plan(CommandLine& line);
void add_report(CommandLine& line);
void add_quickstart(CommandLine& line);

// The document as text on stdout, for --json.
template <typename T>
void print_document(const T& content) {
  print_text(format_document(Document<T>{current_provenance(), content}));
}

// The ranks of this job, joined on first use; left when the program ends.
[[nodiscard]] Communicator& world();

// Records options that the program chose itself as if the user had given them: the provenance of every document
// that is written afterwards contains them.
void add_to_command_line(const std::vector<std::string>& arguments);

// A line on stdout.
void print_line(const std::string& line);

// "wrote plan.json" on stderr.
void say_wrote(const std::string& file);

}  // namespace sextant::cli
