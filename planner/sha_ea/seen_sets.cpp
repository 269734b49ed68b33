#include "planner/sha_ea/seen_sets.h"

namespace sextant::inline planner {

void SeenSets::add(int task, const std::vector<std::uint16_t>& devices, const std::vector<Option>& options) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
  if (bytes_ > kMaxBytes || options.empty()) return;
  const bool is_new = sets_[static_cast<std::size_t>(task)].try_emplace(devices, &options).second;
  if (is_new) bytes_ += devices.size() * sizeof(std::uint16_t);
}

std::vector<TaskChoice> SeenSets::of(int task, double below_s) const {
  std::vector<TaskChoice> seen;
  for (const auto& [devices, options] : sets_[static_cast<std::size_t>(task)]) {
    for (const Option& option : *options) {
      if (option.value.time_s < below_s) seen.push_back({&devices, &option});
    }
  }
  return seen;
}

}  // namespace sextant::inline planner
