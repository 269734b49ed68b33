#include "calibrate/families.h"

#include <algorithm>
#include <array>

namespace sextant::inline calibrate {
namespace {

struct FrameworkFamily {
  std::string_view prefix;  // a framework's name, whole or up to a hyphen
  std::string_view family;
};

constexpr std::array<FrameworkFamily, 23> kFamilies{{
    {"verl", "verl"},
    {"nemo-rl", "nemo-rl"},
    {"openrlhf", "openrlhf"},
    {"deepspeed-chat", "deepspeed-chat"},
    {"rlinf", "rlinf"},
    {"skyrl", "skyrl"},
    {"areal", "areal"},
    {"real", "real"},
    {"megatron", "megatron"},
    {"nemo-aligner", kAnyFamily},  // no public run; not the NeMo trainer of the next line
    {"nemo", "megatron"},
    {"pytorch", "pytorch"},
    {"automodel", "pytorch"},
    {"torchtitan", "pytorch"},
    {"fms-fsdp", "pytorch"},
    {"llm-foundry", "pytorch"},
    {"prime-rl", "pytorch"},
    {"sailor", "megatron"},
    {"vllm", "vllm"},
    {"sglang", "sglang"},
    {"tensorrt-llm", "tensorrt-llm"},
    {"lmdeploy", "lmdeploy"},
    {"transformers", "transformers"},
}};

bool is_of(std::string_view framework, std::string_view prefix) {
  return framework.starts_with(prefix) &&
         (framework.size() == prefix.size() || framework[prefix.size()] == '-');
}

}  // namespace

std::string_view family_of_framework(std::string_view framework) {
  const auto found = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const FrameworkFamily& family) {
    return is_of(framework, family.prefix);
  });
  return found == kFamilies.end() ? kAnyFamily : found->family;
}

}  // namespace sextant::inline calibrate
