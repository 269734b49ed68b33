// The manual page of the program or of one of its commands.
#pragma once

#include <string>

#include "cli/command_line/command_tree.h"

namespace sextant::cli {

// Returns the name of a page: "sextant-coschedule-place".
[[nodiscard]] std::string manual_name(const std::string& program, const std::string& words);

// Returns a page of section 1 for man(7). words: those after the program's name, "coschedule place"; empty for the
// program itself.
[[nodiscard]] std::string manual_page(const std::string& program, const std::string& version,
                                      const CommandTree& command, const std::string& words);

}  // namespace sextant::cli
