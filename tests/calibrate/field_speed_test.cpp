// Host time is that of the host: coefficients that ship must not make a better GPU slower.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "core/document.h"
#include "costmodel/predict.h"

namespace sextant {
namespace {

const std::filesystem::path kCheckout = SEXTANT_SOURCE_DIR;

double iteration_s(const std::string& gpu, const std::string& workflow) {
  const std::filesystem::path folder = kCheckout / "tests/data/field/14-h100-slower-than-a100";
  const auto cluster = load_document<Cluster>(folder / (gpu + "-cluster.json")).content;
  const auto coefficients = load_document<Coefficients>(kCheckout / "data/coefficients/nemo-rl.json").content;
  return predict(cluster, load_document<Workflow>(folder / (workflow + "-workflow.json")).content,
                 load_document<Plan>(folder / "plan.json").content, coefficients, "nemo-rl")
      .iteration_s;
}

// NVIDIA-NeMo/RL#1275: Qwen3-8B, long sequences, 256 GPUs: 393.3 s a step on A100 and 104.7 s on H100, which
// has three times the arithmetic, 1.6 times the memory bandwidth and twice the network.
TEST(FieldSpeed, AnH100IsNeverSlowerThanAnA100) {
  EXPECT_LT(iteration_s("h100", "20k"), iteration_s("a100", "20k"));
  EXPECT_LT(iteration_s("h100", "40k"), 0.6 * iteration_s("a100", "40k"));
}

// Where a few runs of small models alone told types apart they were three times apart.
TEST(FieldSpeed, HostOverheadsOfDeviceTypesAreAlike) {
  constexpr double kAlike = 1.5;
  for (const auto& entry : std::filesystem::directory_iterator(kCheckout / "data/coefficients")) {
    std::map<CoefficientId, std::pair<double, double>> ranges;
    for (const Coefficient& value : load_document<Coefficients>(entry.path()).content.values) {
      const bool is_host = value.id == CoefficientId::layer_overhead_s ||
                           value.id == CoefficientId::micro_batch_overhead_s ||
                           value.id == CoefficientId::collective_overhead_s;
      if (!is_host || value.device_type == kAny) continue;
      const auto found = ranges.try_emplace(value.id, value.value, value.value).first;
      found->second.first = std::min(found->second.first, value.value);
      found->second.second = std::max(found->second.second, value.value);
    }
    for (const auto& [id, range] : ranges) {
      EXPECT_LT(range.second, kAlike * range.first) << entry.path() << " " << spec_of(id).name;
    }
  }
}

}  // namespace
}  // namespace sextant
