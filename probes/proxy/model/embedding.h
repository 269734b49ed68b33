// Vocabulary-parallel embedding: each rank looks up its own tokens; the sum over the group is the result.
#pragma once

#include <span>

#include "probes/comm/communicator.h"
#include "probes/proxy/model/parameters.h"

namespace sextant::proxy {

// x [tokens, hidden], overwritten. `weights` holds the tokens first_token, first_token + 1, ...
void embed(Communicator& tensor, ConstMatrix weights, int first_token, std::span<const int> tokens, Matrix x);

// Adds dx to the gradients of the rows that were looked up.
void embed_backward(Matrix gradients, int first_token, std::span<const int> tokens, ConstMatrix dx);

}  // namespace sextant::proxy
