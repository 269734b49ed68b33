// What the program was asked, by all its words.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "cli/command_line/command.h"

namespace sextant::cli {

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& description, const std::string& version,
              const std::string& footer);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command add_command(const std::string& name, const std::string& help);

  // Whether there is a command to run; else there is something to say: the help, the version, what is wrong.
  [[nodiscard]] bool parse(int argc, const char* const* argv);
  [[nodiscard]] bool is_wrong() const;
  // Help and version on stdout, what is wrong on stderr, with the command's usage.
  void say() const;

  [[nodiscard]] int run() const { return chosen_(); }

 private:
  std::unique_ptr<CLI::App> app_;
  Action chosen_;
  std::exception_ptr end_;  // a CLI::ParseError
  bool is_wrong_ = false;
};

}  // namespace sextant::cli
