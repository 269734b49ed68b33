#include "ask/hub_cache.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>

namespace sextant::inline ask {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "models--";

std::optional<std::string> set_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

// "models--Qwen--Qwen3-8B" is "Qwen/Qwen3-8B". A name may contain "--" itself, a publisher does not.
std::optional<std::string> id_of_folder(const std::string& folder) {
  if (!folder.starts_with(kPrefix)) return std::nullopt;
  std::string id = folder.substr(kPrefix.size());
  const std::size_t separator = id.find("--");
  if (separator == std::string::npos || separator == 0) return std::nullopt;
  id.replace(separator, 2, "/");
  return is_hub_id(id) ? std::optional(id) : std::nullopt;
}

// Sorted; empty if the folder cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code fault;
  std::vector<fs::path> all;
  for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault)) {
    all.push_back(entry->path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool is_file(const fs::path& path) {
  std::error_code fault;
  return fs::is_regular_file(path, fault);
}

std::string main_revision(const fs::path& model) {
  std::ifstream file(model / "refs/main");
  std::string revision;
  file >> revision;
  return revision;
}

}  // namespace

fs::path hub_cache() {
  if (const auto cache = set_variable("HF_HUB_CACHE")) return *cache;
  if (const auto home = set_variable("HF_HOME")) return fs::path(*home) / "hub";
  return fs::path(set_variable("HOME").value_or("")) / ".cache/huggingface/hub";
}

bool is_hub_id(const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool has_one_slash = slash != std::string::npos && text.find('/', slash + 1) == std::string::npos;
  return has_one_slash && slash > 0 && slash + 1 < text.size() && text[0] != '.' && text[0] != '~';
}

std::optional<std::string> hub_id_in(const fs::path& path) {
  for (const fs::path& part : path) {
    if (auto id = id_of_folder(part.string())) return id;
  }
  return std::nullopt;
}

std::optional<fs::path> cached_config(const fs::path& cache, const std::string& id) {
  std::string folder = std::string(kPrefix) + id;
  folder.replace(folder.find('/'), 1, "--");
  const fs::path model = cache / folder;
  const std::string revision = main_revision(model);
  const fs::path main = model / "snapshots" / revision / "config.json";
  if (!revision.empty() && is_file(main)) return main;
  std::vector<fs::path> snapshots = entries(model / "snapshots");
  std::reverse(snapshots.begin(), snapshots.end());
  for (const fs::path& snapshot : snapshots) {
    if (is_file(snapshot / "config.json")) return snapshot / "config.json";
  }
  return std::nullopt;
}

std::vector<std::string> cached_models(const fs::path& cache) {
  std::vector<std::string> ids;
  for (const fs::path& folder : entries(cache)) {
    const auto id = id_of_folder(folder.filename().string());
    if (id && cached_config(cache, *id)) ids.push_back(*id);
  }
  return ids;
}

}  // namespace sextant::inline ask
