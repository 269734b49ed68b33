#include "probes/trace/analysis/foreign_trace.h"

#include <algorithm>

#include "core/in_file.h"
#include "probes/trace/analysis/nsys_trace.h"
#include "probes/trace/analysis/torch_trace.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::trace {
namespace {

namespace fs = std::filesystem;

bool has_known_suffix(const fs::path& file) {
  return file.extension() == ".json" || file.extension() == ".sqlite";
}

std::vector<fs::path> foreign_files(const fs::path& path) {
  if (fs::is_regular_file(path)) {
    if (has_known_suffix(path)) return {path};
    throw_bad_input(path.string() +
                    ": expected a folder of sextant trace, a profile of PyTorch (.json) or an export of Nsight "
                    "Systems (.sqlite)");
  }
  std::vector<fs::path> files;
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(path, fault)) {
    if (has_known_suffix(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool is_foreign_trace(const fs::path& path) { return !foreign_files(path).empty(); }

Trace load_foreign_traces(const fs::path& path) {
  TraceBuilder builder;
  for (const fs::path& file : foreign_files(path)) {
    in_file(file, [&] {
      const std::string content = read_text_file(file);
      file.extension() == ".sqlite" ? add_nsys_trace(file, content, builder)
                                    : add_torch_trace(file, content, builder);
    });
  }
  return builder.finished();
}

}  // namespace sextant::trace
