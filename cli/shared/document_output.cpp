#include "cli/shared/document_output.h"

#include <unistd.h>

#include <cstdio>

namespace sextant::cli {
namespace {

// Null: stdout itself.
std::FILE*& kept() {
  static std::FILE* stream = nullptr;
  return stream;
}

}  // namespace

void keep_stdout_for_documents() {
  if (kept() != nullptr) return;
  std::fflush(stdout);
  const int copy = dup(STDOUT_FILENO);
  if (copy < 0) return;  // closed: nobody reads it
  kept() = fdopen(copy, "w");
  if (kept() == nullptr) {
    close(copy);
  } else if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {  // stderr is closed; and stdout as it was
    std::fclose(kept());
    kept() = nullptr;
  }
}

void print_text(const std::string& text) {
  std::FILE* stream = kept() == nullptr ? stdout : kept();
  std::fwrite(text.data(), 1, text.size(), stream);
  if (stream != stdout) std::fflush(stream);
}

}  // namespace sextant::cli
