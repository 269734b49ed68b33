// Reads the config.json of a Hugging Face model as a Model.
//
// hugging_face_architectures.cpp has the table of known architectures. A model that one value per Model
// cannot describe (linear attention, Mamba layers, layers of unlike shape) is refused with its architecture
// and the reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/model.h"

namespace sextant::inline documents {

struct ConfigModel {
  Model model;
  std::vector<std::string> notes;  // sentences: what the config has that the model lacks
};

// Parses the text of a config.json. Python writes Infinity and NaN into it, which JSON does not have: they
// become null.
[[nodiscard]] Json parse_config(std::string_view text);

// A vision-language model is read as its language model, with a note. Throws Error(bad_input) with the JSON
// path.
[[nodiscard]] ConfigModel model_from_config(const JsonView& config, const std::string& name);

}  // namespace sextant::inline documents
