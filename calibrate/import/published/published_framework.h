// Maps the framework names in published records to frameworks.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/import/published/published_record.h"

namespace sextant {

[[nodiscard]] inline bool has_text(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
[[nodiscard]] inline bool is_deepspeed(const PublishedRecord& record) {
  return record.train_backend.starts_with("DeepSpeed");
}
[[nodiscard]] inline bool is_real(const PublishedRecord& record) { return record.framework == "ReaL"; }
[[nodiscard]] inline bool is_nemo_rl(const PublishedRecord& record) {
  return record.framework.starts_with("NeMo RL");
}
[[nodiscard]] inline bool is_verl(const PublishedRecord& record) {
  return record.framework.starts_with("verl");
}
[[nodiscard]] inline bool generates_without_engine(const PublishedRecord& record) {
  return record.rollout_backend == "HF generate";
}
[[nodiscard]] inline bool is_serving(const PublishedRecord& record) {
  return !is_real(record) && !generates_without_engine(record);
}

}  // namespace sextant
