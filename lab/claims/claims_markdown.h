// The accuracy figures as a page for people: docs/accuracy.md.
#pragma once

#include <string>

#include "lab/claims/claims.h"

namespace sextant {

// The protocol of every figure, its value beside what was asked, and the records that fit worst.
[[nodiscard]] std::string claims_as_markdown(const ClaimReport& report);

}  // namespace sextant
