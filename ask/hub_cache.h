// The local cache of the Hugging Face Hub: CACHE/models--ORG--NAME/snapshots/REVISION/config.json.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sextant::inline ask {

// HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub. The folder need not exist.
[[nodiscard]] std::filesystem::path hub_cache();

// Returns whether a text has the form of an id on the Hub: "ORG/NAME".
[[nodiscard]] bool is_hub_id(const std::string& text);

// Returns "ORG/NAME" if a part of the path is "models--ORG--NAME", on this machine or another.
[[nodiscard]] std::optional<std::string> hub_id_in(const std::filesystem::path& path);

// Returns the config.json of the revision in refs/main, else that of the last snapshot by name.
[[nodiscard]] std::optional<std::filesystem::path> cached_config(const std::filesystem::path& cache,
                                                                 const std::string& id);

// Returns the ids of all cached models that have a config.json, sorted.
[[nodiscard]] std::vector<std::string> cached_models(const std::filesystem::path& cache);

}  // namespace sextant::inline ask
