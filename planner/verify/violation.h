// The violations that a verifier reports for a plan that cannot run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sextant::inline planner {

// The rules, as in Violation::rule. C1 to C3 are the constraints of HetRL, section 3.1.
namespace rules {
inline constexpr const char* kOneTaskletADevice = "C1";  // per task, so its tasklets never exceed the devices
inline constexpr const char* kEveryTaskletPlaced = "C2";
inline constexpr const char* kDeviceMemory = "C3";
inline constexpr const char* kHostMemory = "host memory";
inline constexpr const char* kPinned = "pinned";
inline constexpr const char* kLayers = "layers";
inline constexpr const char* kTensorParallel = "tensor parallel";
inline constexpr const char* kContextParallel = "context parallel";
inline constexpr const char* kExpertParallel = "expert parallel";
inline constexpr const char* kSharding = "sharding";
inline constexpr const char* kVirtualStages = "virtual stages";
inline constexpr const char* kBatchShares = "batch shares";
inline constexpr const char* kSameLayout = "same layout";
inline constexpr const char* kCommonOption = "common option";
inline constexpr const char* kRankOrder = "rank order";
inline constexpr const char* kMicroBatches = "micro-batches";
inline constexpr const char* kKvCache = "KV cache";
inline constexpr const char* kOffloading = "offloading";
inline constexpr const char* kRates = "rates";
inline constexpr const char* kValues = "values";
}  // namespace rules

struct Violation {
  std::string where;    // "actor_training, replica 1, stage 0"; "device 3 (node/3)"; "node a"
  std::string rule;     // one of the above
  std::string message;  // a sentence with numbers and units

  friend bool operator==(const Violation&, const Violation&) = default;
};

// "C3 at device 3: needs 2.00 GiB, ..."
[[nodiscard]] std::string describe(const Violation& violation);

// "task, replica i", and with a stage "task, replica i, stage j"; both count from 0 as in documents.
[[nodiscard]] std::string place_of(const std::string& task, std::size_t replica);
[[nodiscard]] std::string place_of(const std::string& task, std::size_t replica, std::size_t stage);

}  // namespace sextant::inline planner
