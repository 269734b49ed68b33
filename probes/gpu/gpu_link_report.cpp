#include "probes/gpu/gpu_link_report.h"

#include <algorithm>
#include <utility>

#include "core/json_value.h"
#include "core/units.h"
#include "probes/assembly/cluster_assembly.h"
#include "probes/topology/link_gap.h"

namespace sextant::inline probes {
namespace {

// The words in the result of a peer copy.
constexpr const char* kThroughHost = "through host memory";

std::vector<TimedMessage> messages_of(const LinkMeasurement& link) {
  std::vector<TimedMessage> messages;
  for (const ProbeResult& point : link.points) {
    if (point.has_value()) messages.push_back({point.work, point.value});
  }
  return messages;
}

int usual_nvlinks(const std::vector<RankReport>& reports, const std::string& host) {
  int maximum = 0;
  for (const RankReport& report : reports) {
    if (report.place && report.place->host == host) maximum = std::max(maximum, report.place->active_nvlinks());
  }
  return maximum;
}

std::string throttle_of(const LinkMeasurement& link) {
  for (const ProbeResult& point : link.points) {
    for (const DeviceState& state : point.conditions.states) {
      if (!state.throttle.empty() && state.throttle != kNotAnswered) return state.throttle;
    }
  }
  return "";
}

class Reporter {
 public:
  Reporter(const std::vector<RankReport>& reports, const LinkFacts& facts)
      : reports_(reports), facts_(facts), settings_(effective_settings(reports.front().settings)) {}

  void add(const LinkWay& way, LinkReport& out) {
    std::map<std::string, LinkClassReport> classes;
    std::map<std::string, std::vector<TimedMessage>> pooled;
    for (const LinkMeasurement& link : links_of(reports_, way.prefix)) {
      const auto pair = report_pair(way, link);
      if (!pair) continue;
      const std::string name = pair->link.name();
      LinkClassReport& of_class = classes.try_emplace(name).first->second;
      of_class.way = way.name;
      of_class.link = pair->link;
      ++of_class.pairs;
      const bool is_less = pair->expected &&
                           (!of_class.expected || pair->expected->bytes_per_s < of_class.expected->bytes_per_s);
      if (is_less) of_class.expected = pair->expected;
      for (const TimedMessage& message : messages_of(link)) pooled[name].push_back(message);
      out.pairs.push_back(*pair);
    }
    for (auto& [name, of_class] : classes) {
      const auto fit = fit_alpha_beta(pooled[name], Confidence::percent_90);
      if (!fit) continue;
      of_class.fit = *fit;
      out.classes.push_back(std::move(of_class));
    }
  }

 private:
  [[nodiscard]] const GpuPlace* place(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return at < reports_.size() && reports_[at].place ? &*reports_[at].place : nullptr;
  }

  std::optional<PairReport> report_pair(const LinkWay& way, const LinkMeasurement& link) const {
    const GpuPlace* a = place(link.pair.low);
    const GpuPlace* b = place(link.pair.high);
    const std::vector<TimedMessage> messages = messages_of(link);
    const auto fit = fit_alpha_beta(messages, Confidence::percent_90);
    if (a == nullptr || b == nullptr || !fit) return std::nullopt;
    PairReport report{link.pair, way.name, link_class(*a, *b), *fit, std::nullopt, ""};
    LinkEvidence evidence;
    evidence.a = a;
    evidence.b = b;
    evidence.usual_nvlinks = usual_nvlinks(reports_, a->host);
    report.expected = expected_rate(facts_, *a, *b, evidence.usual_nvlinks);
    if (!report.expected) return report;
    evidence.expected_bytes_per_s = report.expected->bytes_per_s;
    evidence.measured_bytes_per_s = fit->bytes_per_s;
    evidence.is_nccl = way.prefix != kLinkPrefix;
    evidence.is_through_host =
        std::any_of(link.points.begin(), link.points.end(),
                    [](const ProbeResult& point) { return point.how.find(kThroughHost) != std::string::npos; });
    for (const TimedMessage& message : messages) {
      evidence.largest_bytes = std::max(evidence.largest_bytes, message.bytes);
    }
    evidence.throttle = throttle_of(link);
    evidence.settings = settings_;
    report.reason = likely_reason(evidence);
    return report;
  }

  const std::vector<RankReport>& reports_;
  const LinkFacts& facts_;
  NetworkSettings settings_;
};

Json fit_json(const AlphaBeta& fit) {
  return {{"latency_s", fit.latency_s},
          {"latency_spread_fraction_90", fit.latency_spread_fraction},
          {"bytes_per_s", fit.bytes_per_s},
          {"bytes_per_s_spread_fraction_90", fit.bytes_per_s_spread_fraction}};
}

Json with_expected(Json json, const std::optional<ExpectedRate>& expected) {
  if (expected) {
    json["expected_bytes_per_s"] = expected->bytes_per_s;
    json["expected_formula"] = expected->formula;
  }
  return json;
}

DeviceMeasurement fitted(const std::string& unit, double value, double spread_fraction,
                         const LinkClassReport& report) {
  const std::string note = "fit over message sizes of " + std::to_string(report.pairs) +
                           (report.pairs == 1 ? " pair" : " pairs") + " of GPUs, " + report.link.sentence() +
                           ", by " + report.way + "; half the 90 % interval";
  return {unit, measured(value, spread_fraction, note)};
}

}  // namespace

const std::vector<LinkWay>& link_ways() {
  static const std::vector<LinkWay> ways = {{"copy engine", kLinkPrefix}, {"NCCL", "nccl/pair/"}};
  return ways;
}

LinkReport report_links(const std::vector<RankReport>& reports, const LinkFacts& facts) {
  LinkReport report;
  if (reports.empty()) return report;
  for (const RankReport& of_rank : reports) {
    if (of_rank.place) report.places.push_back(*of_rank.place);
  }
  Reporter reporter(reports, facts);
  for (const LinkWay& way : link_ways()) reporter.add(way, report);
  return report;
}

std::vector<std::string> warnings_of(const LinkReport& report) {
  std::map<std::pair<std::string, std::string>, std::vector<const PairReport*>> by_reason;
  for (const PairReport& pair : report.pairs) {
    if (!pair.reason.empty()) by_reason[{pair.way, pair.reason}].push_back(&pair);
  }
  std::vector<std::string> warnings;
  for (const auto& [key, pairs] : by_reason) {
    const PairReport& worst = **std::min_element(pairs.begin(), pairs.end(), [](const auto* a, const auto* b) {
      return a->fit.bytes_per_s < b->fit.bytes_per_s;
    });
    warnings.push_back(std::to_string(pairs.size()) + (pairs.size() == 1 ? " pair" : " pairs") + " of GPUs (" +
                       worst.link.sentence() + ", " + key.first + ") are slower than expected, worst " +
                       std::to_string(worst.pair.low) + "-" + std::to_string(worst.pair.high) + " with " +
                       format_bytes_per_s(worst.fit.bytes_per_s) + " of " +
                       format_bytes_per_s(worst.expected->bytes_per_s) + " (" + worst.expected->formula +
                       "): " + key.second + ".");
  }
  return warnings;
}

std::map<std::string, DeviceMeasurement> measurements_of(const LinkReport& report) {
  std::map<std::string, DeviceMeasurement> measurements;
  for (const LinkClassReport& of_class : report.classes) {
    const std::string way = of_class.way == "NCCL" ? "nccl" : "copy_engine";
    const std::string name = "links/" + way + "/" + of_class.link.name();
    const AlphaBeta& fit = of_class.fit;
    measurements[name + "/latency"] = fitted("s", fit.latency_s, fit.latency_spread_fraction, of_class);
    measurements[name + "/bandwidth"] =
        fitted("bytes/s", fit.bytes_per_s, fit.bytes_per_s_spread_fraction, of_class);
    if (!of_class.expected) continue;
    measurements["links/" + of_class.link.name() + "/expected"] = {
        "bytes/s", datasheet(of_class.expected->bytes_per_s, of_class.expected->formula)};
  }
  return measurements;
}

Json PairReport::to_json() const {
  Json json = fit_json(fit);
  json["rank"] = pair.low;
  json["peer"] = pair.high;
  json["way"] = way;
  json["class"] = link.name();
  if (!reason.empty()) json["likely_reason"] = reason;
  return with_expected(std::move(json), expected);
}

Json LinkClassReport::to_json() const {
  Json json = fit_json(fit);
  json["way"] = way;
  json["class"] = link.name();
  json["what"] = link.sentence();
  json["pairs"] = pairs;
  return with_expected(std::move(json), expected);
}

Json LinkReport::to_json() const {
  Json json = {{"places", Json::array()}, {"pairs", Json::array()}, {"classes", Json::array()}};
  for (const GpuPlace& place : places) json["places"].push_back(place.to_json());
  for (const PairReport& pair : pairs) json["pairs"].push_back(pair.to_json());
  for (const LinkClassReport& of_class : classes) json["classes"].push_back(of_class.to_json());
  return json;
}

}  // namespace sextant::inline probes
