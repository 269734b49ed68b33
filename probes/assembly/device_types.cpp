#include "probes/assembly/device_types.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <sstream>

#include "core/units.h"
#include "probes/assembly/cluster_assembly.h"
#include "probes/outliers/outliers.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

// "gemm/bf16/8192", "gemm/bf16/8192x28672x8192_nt": a size, not a model's product.
bool is_sized_gemm(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return false;
  std::string size = name.substr(prefix.size());
  if (size.ends_with("_nt")) size.resize(size.size() - 3);
  return !size.empty() && std::all_of(size.begin(), size.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0 || c == 'x'; });
}

constexpr double kMoreLikelyThanNot = 0.5;

// The number of one kind from all ranks of a type.
struct Series {
  std::vector<double> values;
  std::vector<double> spreads;
  std::vector<std::string> devices;
  DeviceConditions conditions;  // of all ranks' samples

  void add(const ProbeResult& result, const std::string& device) {
    values.push_back(result.value);
    spreads.push_back(result.spread_fraction);
    devices.push_back(device);
    const auto& states = result.conditions.states;
    conditions.states.insert(conditions.states.end(), states.begin(), states.end());
  }
  [[nodiscard]] Quantity quantity(const std::string& how) const {
    const std::size_t count = values.size();
    const std::string who =
        count == 1 ? " on one rank" : ", median of " + std::to_string(count) + " ranks at once";
    const std::string throttle = conditions.throttle_sentence();
    return median_quantity(values, spreads, how + who + (throttle.empty() ? "" : "; " + throttle));
  }
  // With two devices that differ, the outlier cannot be identified: one warning for both.
  void warn(const std::string& what, std::vector<std::string>& warnings) const {
    if (values.size() == 2) {
      const std::string caveat = find_odd_ones(named(), {kOddDeviceFraction}).caveat;
      if (!caveat.empty()) warnings.push_back(what + ": " + caveat + kWhatToDo);
      return;
    }
    constexpr double kAnySure = 0;
    const OddOnes found = find_odd_ones(named(), {kOddDeviceFraction, kAnySure});
    const double middle = median(values);
    for (std::size_t at = 0; at < values.size(); ++at) {
      const double difference = values[at] / middle - 1;
      if (std::abs(difference) <= kOddDeviceFraction) continue;
      warnings.push_back(devices[at] + " has " + format_percent(std::abs(difference)) +
                         (difference < 0 ? " less " : " more ") + what + " than the median of its type" +
                         how_sure(found.odd, at) + kWhatToDo);
    }
  }

 private:
  static constexpr const char* kWhatToDo =
      ". Plans use the median for it. Check its host for other programs, throttling or a different slot.";

  [[nodiscard]] std::vector<NamedValue> named() const {
    std::vector<NamedValue> all;
    for (std::size_t at = 0; at < values.size(); ++at) {
      all.push_back({devices[at], values[at], spreads[at]});
    }
    return all;
  }
  [[nodiscard]] std::string how_sure(const std::vector<OddOne>& odd, std::size_t at) const {
    const std::string& name = devices[at];
    const auto found =
        std::find_if(odd.begin(), odd.end(), [&](const OddOne& one) { return one.name == name; });
    const std::string among = " among " + std::to_string(values.size());
    if (found == odd.end() || found->sure < kMoreLikelyThanNot) return " (possibly by chance" + among + ")";
    return " (" + describe_sure(found->sure) + " that it is an outlier" + among + ")";
  }
};

// A rank's report and what its device is called: "node7/3 (rank 31)".
struct Member {
  const RankReport* report = nullptr;
  std::string device;

  const RankReport* operator->() const { return report; }
};
using Reports = std::vector<Member>;

[[noreturn]] void throw_missing(const RankReport& report, const std::string& prefix) {
  std::string reason = "it was not measured";
  for (const ProbeResult& result : report.results) {
    if (result.name.starts_with(prefix) && !result.has_value()) reason = result.sentence;
  }
  throw_machine_failed("rank " + std::to_string(report.rank) + " on " + report.host + " has no " + prefix +
                       ": " + reason);
}

// Empty when a rank has no value of this precision.
Series gemm_series(const Reports& reports, Precision precision) {
  Series series;
  for (const Member& report : reports) {
    const ProbeResult* peak = peak_gemm(report->results, precision);
    if (peak != nullptr) {
      series.add(*peak, report.device);
    } else if (precision == Precision::fp32 && !report->is_gpu()) {
      throw_missing(*report.report, "gemm/fp32");
    } else {
      return {};
    }
  }
  return series;
}

Series read_series(const Reports& reports) {
  Series series;
  for (const Member& report : reports) {
    const ProbeResult* read = find_value(report->results, "memory/read");
    if (read == nullptr) throw_missing(*report.report, "memory/read");
    series.add(*read, report.device);
  }
  return series;
}

// Empty when a rank has no value of this name.
Series named_series(const Reports& reports, const std::string& name) {
  Series series;
  for (const Member& report : reports) {
    const ProbeResult* found = find_value(report->results, name);
    if (found == nullptr) return {};
    series.add(*found, report.device);
  }
  return series;
}

Quantity memory_capacity(const Reports& reports) {
  double min_bytes = reports.front()->memory_bytes;
  for (const Member& report : reports) {
    min_bytes = std::min(min_bytes, report->memory_bytes);
    if (report->memory_bytes <= 0) throw_missing(*report.report, "memory/capacity");
  }
  const bool is_gpu = reports.front()->is_gpu();
  return measured(min_bytes, 0,
                  is_gpu ? "capacity of device memory; the least of the type"
                         : "available memory of the host divided by its ranks; the least of the type");
}

// The slower direction, pinned.
std::optional<Quantity> host_rate(const Reports& reports) {
  const Series to = named_series(reports, "host/to_device/pinned");
  const Series from = named_series(reports, "host/from_device/pinned");
  if (to.values.empty() || from.values.empty()) return std::nullopt;
  const bool is_to_slower = median(to.values) < median(from.values);
  return (is_to_slower ? to : from)
      .quantity(std::string("pinned memory, the slower direction (") + (is_to_slower ? "to" : "from") +
                " the device)");
}

// Everything else that all ranks of the type have: one entry a name.
std::map<std::string, DeviceMeasurement> other_measurements(const Reports& reports) {
  std::map<std::string, DeviceMeasurement> measurements;
  for (const ProbeResult& result : reports.front()->results) {
    if (!result.has_value() || result.peer >= 0) continue;
    const Series series = named_series(reports, result.name);
    if (series.values.empty()) continue;
    const std::string how = result.how.empty() ? result.name : result.how;
    measurements[result.name] = {result.unit, series.quantity(how + ";")};
  }
  return measurements;
}

DeviceType assemble_type(const Reports& reports, std::vector<std::string>& warnings) {
  const bool is_gpu = reports.front()->is_gpu();
  DeviceType type;
  type.kind = is_gpu ? DeviceKind::gpu : DeviceKind::cpu;
  type.memory_bytes = memory_capacity(reports);
  const Series read = read_series(reports);
  type.memory_bytes_per_s = read.quantity(is_gpu ? "read bandwidth of device memory"
                                                 : "read bandwidth from main memory, summing doubles");
  read.warn("read bandwidth", warnings);
  for (const Precision precision :
       {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16, Precision::fp8}) {
    const Series gemm = gemm_series(reports, precision);
    if (gemm.values.empty()) continue;
    const std::string how =
        is_gpu ? "fastest GEMM of the sizes measured, " : "fastest square GEMM of one core, ";
    type.flop_per_s[precision] = gemm.quantity(how + reports.front()->gemm_library);
    gemm.warn(std::string(name_of(precision)) + " GEMM rate", warnings);
  }
  if (type.flop_per_s.empty()) throw_missing(*reports.front().report, "gemm/");
  if (is_gpu) {
    type.host_bytes_per_s = host_rate(reports);
    type.measurements = other_measurements(reports);
  }
  return type;
}

// Lower case, words joined with "-", without those that say nothing; ends with "-".
std::string slug_of(std::string text) {
  for (const char* mark : {"(R)", "(r)", "(TM)", "(tm)"}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, std::string(mark).size(), " ");
    }
  }
  std::string name;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::string slug;
    for (const char c : word) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (!slug.empty() && slug.back() != '-') {
        slug += '-';
      }
    }
    while (slug.ends_with('-')) slug.pop_back();
    const bool says_nothing = slug.empty() || slug == "cpu" || slug == "processor" || slug.ends_with("-core");
    if (!says_nothing) name += slug + "-";
  }
  return name;
}

}  // namespace

const ProbeResult* peak_gemm(const std::vector<ProbeResult>& results, Precision precision) {
  const std::string prefix = "gemm/" + std::string(name_of(precision)) + "/";
  const ProbeResult* peak = nullptr;
  for (const ProbeResult& result : results) {
    if (!result.has_value() || !is_sized_gemm(result.name, prefix)) continue;
    if (peak == nullptr || result.value > peak->value) peak = &result;
  }
  return peak;
}

std::string device_type_name(const std::string& cpu_model) {
  return slug_of(cpu_model.substr(0, cpu_model.find('@'))) + "core";
}

std::string device_type_name(const RankReport& report) {
  if (!report.is_gpu()) return device_type_name(report.cpu_model);
  std::string name = slug_of(report.gpu_model);
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "gpu" : name;
}

std::map<std::string, DeviceType> assemble_device_types(const std::vector<RankReport>& reports,
                                                        std::vector<std::string>& warnings) {
  std::map<std::string, Reports> by_type;
  std::map<std::string, int> devices_of_host;
  for (const RankReport& report : reports) {
    const std::string device = report.host + "/" + std::to_string(devices_of_host[report.host]++);
    by_type[device_type_name(report)].push_back(
        {&report, device + " (rank " + std::to_string(report.rank) + ")"});
  }
  std::map<std::string, DeviceType> types;
  for (const auto& [name, members] : by_type) types[name] = assemble_type(members, warnings);
  return types;
}

}  // namespace sextant::inline probes
