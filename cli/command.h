// What the commands share: how they are registered, exit codes, printing.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/document_output.h"
#include "cli/exit_codes.h"
#include "core/document.h"
#include "core/json_value.h"
#include "probes/comm/communicator.h"

namespace sextant::cli {

// Runs after parsing; returns the exit code.
using Action = std::function<int()>;

// Each adds one subcommand, which sets `action` when it is the chosen one.
void add_accuracy(CLI::App& app, Action& action);
void add_agent(CLI::App& app, Action& action);
void add_coefficients(CLI::App& app, Action& action);
void add_diff(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_probe(CLI::App& app, Action& action);
void add_proxy(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_reproduce(CLI::App& app, Action& action);
void add_quickstart(CLI::App& app, Action& action);

// The document as text on stdout, for --json.
template <typename T>
void print_document(const T& content) {
  print_text(format_document(Document<T>{current_provenance(), content}));
}

// The ranks of this job, joined on first use; left when the program ends.
[[nodiscard]] Communicator& world();

// Options that the program chose itself, as if they had been given: the provenance of every document that is
// written from now on names them.
void add_to_command_line(const std::vector<std::string>& arguments);

// A line on stdout.
void print_line(const std::string& line);

// "wrote plan.json" on stderr.
void say_wrote(const std::string& file);

}  // namespace sextant::cli
