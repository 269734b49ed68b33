// Errors in what a user's file holds, reported with the name of the file.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sextant/error.h"

namespace sextant::inline core {

// "a.log, b.log: MESSAGE". The message itself if it names one of the files ("a.log:3: ...") or begins with the name
// of an option ("--gpus 8xH1: ..."), and if there are no files. Texts of documents count as no files.
[[nodiscard]] std::string with_files(const std::vector<std::string>& files, const std::string& message);

// Runs read(), and names the files in the message of any Error(bad_input) that it throws.
template <typename Read>
auto in_files(const std::vector<std::string>& files, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    throw Error(error.kind(), with_files(files, error.what()));
  }
}

template <typename Read>
auto in_file(const std::filesystem::path& file, Read&& read) {
  return in_files({file.string()}, std::forward<Read>(read));
}

}  // namespace sextant::inline core
