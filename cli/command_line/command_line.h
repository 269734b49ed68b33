// The command line of the program: all commands and the parsed arguments.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "cli/command_line/command_tree.h"

namespace sextant::cli {

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& description, const std::string& version,
              const std::string& footer);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command add_command(const std::string& name, const std::string& help);

  // Returns whether there is a command to run; else say() prints the help, the version or an error.
  [[nodiscard]] bool parse(int argc, const char* const* argv);
  [[nodiscard]] bool is_wrong() const;
  // Prints help and version to stdout, an error to stderr, with the command's usage.
  void say() const;

  // The files and folders to write that were given.
  [[nodiscard]] std::vector<OutputPath> given_outputs() const;
  [[nodiscard]] int run() const { return chosen_(); }

  [[nodiscard]] CommandTree tree() const;

 private:
  [[nodiscard]] bool is_command(const std::string& name) const;

  std::unique_ptr<CLI::App> app_;
  Action chosen_;
  std::vector<OutputPath> outputs_;
  std::vector<std::string> words_;  // of the command line, after the name of the program
  std::exception_ptr end_;          // a CLI::ParseError
  bool is_wrong_ = false;
};

}  // namespace sextant::cli
