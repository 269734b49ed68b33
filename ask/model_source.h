// Finds the shape of a model that a person names.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "sextant/model.h"

namespace sextant::inline ask {

struct FoundModel {
  Model model;
  std::string where;               // the file that was read, or "data/models.json"
  std::vector<std::string> notes;  // sentences: parts of the published model that the shape lacks
};

// `stated` is, in this order: a file (config.json or a model document) or a folder that has a config.json; the
// id of a model in `cache`, the local cache of the Hugging Face Hub (hub_cache()); a name or alias of
// data/models.json; a model of data/configs, also one tuned from it ("-Instruct", "-it", "-Thinking"); with a note the
// model that the name says to be a copy of ("-FP8", "-AWQ", "-SFT"). A path into the
// cache of another machine counts as the id in it. Throws Error(bad_input) with the nearest names.
[[nodiscard]] FoundModel find_model(const std::string& stated, const Facts& facts,
                                    const std::filesystem::path& cache);

// All models that find_model knows by name without a cache, by name.
[[nodiscard]] std::map<std::string, Model> known_models(const Facts& facts);

}  // namespace sextant::inline ask
