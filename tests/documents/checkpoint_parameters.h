// Parameters of a published checkpoint that a Model does not count, by rules written by hand for each
// architecture.
#pragma once

#include <string>

#include "core/json_value.h"
#include "sextant/model.h"

namespace sextant {

// Returns the weights of normalisations, biases, attention sinks, and gates of shared experts that the
// language model of a config.json has in addition to model.parameters(). Throws std::out_of_range for an
// unknown architecture.
[[nodiscard]] double uncounted_parameters(const Model& model, const Json& config);

// Returns what the file of one published model stores besides its language model: encoders of images, layers of
// multi-token prediction, scales of 8-bit weights, an output matrix stored twice, buffers. 0 for most files.
[[nodiscard]] double stored_besides(const std::string& file, const Model& model, const Json& config);

}  // namespace sextant
