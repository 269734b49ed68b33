// The lines of a file of any size, one after another.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace sextant::inline core {

// Calls take(line) for every line, without what ends it: a line feed, or the carriage return by which progress bars begin
// again. A line of more than 16 MiB comes in parts of that size. Throws Error(bad_input) if the file cannot be read.
void for_each_line(const std::filesystem::path& file, const std::function<void(std::string_view)>& take);

// The same of a text.
void for_each_line(std::string_view text, const std::function<void(std::string_view)>& take);

// The first `bytes` of a file, or all of a shorter one. Throws Error(bad_input) if it cannot be read.
[[nodiscard]] std::string beginning_of_file(const std::filesystem::path& file, std::size_t bytes);

}  // namespace sextant::inline core
