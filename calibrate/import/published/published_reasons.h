// Why a published record is left out, and what it says only indirectly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/published/published_record.h"
#include "calibrate/import/records/facts.h"

namespace sextant {

// As printed, or of the class whose peak the framework divides by; empty where neither is there.
[[nodiscard]] std::string gpu_name(const PublishedRecord& record);

// Responses of an iteration; absent where the record does not say, or says two things.
[[nodiscard]] std::optional<int> sequences_of(const PublishedRecord& record);

// "a, b, c"
[[nodiscard]] std::string listed(const std::vector<std::string>& things);

// Empty where the record can be a run. `records` are all of its file: one may repeat another.
[[nodiscard]] std::string reason_against(const PublishedRecord& record,
                                         const std::vector<PublishedRecord>& records, const Facts& facts);

}  // namespace sextant
