// Errors in a file, reported with its name.
#pragma once

#include <filesystem>
#include <utility>

#include "sextant/error.h"

namespace sextant {

// Runs read() and puts "FILE: " before the message of any Error that it throws.
template <typename Read>
auto in_file(const std::filesystem::path& file, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const Error& error) {
    throw Error(error.kind(), file.string() + ": " + error.what());
  }
}

}  // namespace sextant
