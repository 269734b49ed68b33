#include "probes/trace/record/settings.h"

#include <cstdlib>

namespace sextant::trace {
namespace {

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

double number(const char* name, double otherwise) {
  const std::string value = text(name);
  char* end = nullptr;
  const double parsed = std::strtod(value.c_str(), &end);
  return end != value.c_str() && *end == '\0' && parsed >= 0 ? parsed : otherwise;
}

std::uint64_t count(const char* name, std::uint64_t otherwise) {
  constexpr double kMaximum = 1e18;
  const double value = number(name, static_cast<double>(otherwise));
  return value < kMaximum ? static_cast<std::uint64_t>(value) : otherwise;
}

}  // namespace

std::optional<Settings> settings_from_environment() {
  Settings settings;
  settings.folder = text(setting_names::kFolder);
  if (settings.folder.empty()) return std::nullopt;
  settings.max_seconds = number(setting_names::kSeconds, 0);
  settings.max_steps = count(setting_names::kSteps, 0);
  settings.step_range = text(setting_names::kStepRange);
  settings.max_bytes = count(setting_names::kBytes, settings.max_bytes);
  settings.max_range_bytes = count(setting_names::kRangeBytes, settings.max_range_bytes);
  settings.max_waiting_buffers = count(setting_names::kWaitingBuffers, settings.max_waiting_buffers);
  settings.flush_s = number(setting_names::kFlush, settings.flush_s);
  settings.max_slowdown = number(setting_names::kSlowdown, 0);
  settings.window_s = number(setting_names::kWindow, 0);
  settings.every_s = number(setting_names::kEvery, 0);
  settings.graph_nodes = number(setting_names::kGraphNodes, 0) > 0;
  settings.device = number(setting_names::kDevice, 1) > 0;
  settings.cupti = text(setting_names::kCupti);
  return settings;
}

}  // namespace sextant::trace
