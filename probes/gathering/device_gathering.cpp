#include "probes/gathering/device_gathering.h"

#include <utility>

#include "core/json_value.h"

namespace sextant::inline probes {
namespace {

// The first character of a message.
constexpr char kPoints = 'p';
constexpr char kReports = 'r';

}  // namespace

DeviceGathering::DeviceGathering(Communicator& world, LivenessBarrier::Limits limits,
                                 std::function<void(const std::vector<ProbeResult>& points)> on_points)
    : world_(world),
      on_points_(std::move(on_points)),
      muster_(world, limits, [this](int rank, const std::string& text) { hear(rank, text); }) {}

void DeviceGathering::tell(const std::vector<ProbeResult>& points) {
  muster_.tell(kPoints + to_json(points).dump());
}

void DeviceGathering::hear(int rank, const std::string& text) {
  if (text.front() == kReports) {
    reports_[rank] = text.substr(1);
    return;
  }
  if (!on_points_) return;
  const Json json = parse_json(std::string_view(text).substr(1));
  on_points_(parse_results(JsonView(json)));
}

std::vector<RankReport> DeviceGathering::gather(const std::vector<RankReport>& mine, const std::string& what) {
  Json json = Json::array();
  for (const RankReport& report : mine) json.push_back(report.to_json());
  muster_.tell(kReports + json.dump());
  muster_.meet(what);
  std::string all = "[]";
  if (world_.rank() == 0) {
    Json texts = Json::array();
    for (const auto& [rank, text] : reports_) {
      if (!muster_.lost().contains(rank)) texts.push_back(text);
    }
    all = texts.dump();
  }
  if (muster_.lost().empty()) all = exchange_texts(world_, all).front();
  std::vector<RankReport> reports;
  const Json texts = parse_json(all);
  for (const JsonView& text : JsonView(texts).items()) {
    const Json of_rank = parse_json(text.text());
    for (const JsonView& report : JsonView(of_rank).items()) reports.push_back(RankReport::parse(report));
  }
  return reports;
}

}  // namespace sextant::inline probes
