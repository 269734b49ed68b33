#include "probes/trace/analysis/torch_trace.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant::trace {
namespace {

std::string event_text(const Json& event, const char* member) {
  return event.contains(member) && event[member].is_string() ? event[member].get<std::string>() : "";
}

// Members are numbers, or texts with numbers in traces of old versions.
std::optional<std::int64_t> whole_of(const Json& event, const char* member) {
  if (!event.is_object() || !event.contains(member) || !event[member].is_number()) return std::nullopt;
  return static_cast<std::int64_t>(event[member].get<double>());
}

// Microseconds with a fraction; nothing for an event without a duration.
std::optional<Span> span_of(const Json& event) {
  constexpr double kNanosecondsOfMicrosecond = 1e3, kLatest = 9e18;
  if (!event.contains("ts") || !event.contains("dur") || !event["ts"].is_number() || !event["dur"].is_number())
    return std::nullopt;
  const double start = event["ts"].get<double>() * kNanosecondsOfMicrosecond,
               length = event["dur"].get<double>() * kNanosecondsOfMicrosecond;
  if (!(std::abs(start) < kLatest) || !(length >= 0) || !(length < kLatest)) return std::nullopt;
  return Span{std::llround(start), std::llround(start + length)};
}

CopyKind copy_kind(const std::string& name) {
  if (name.find("HtoD") != std::string::npos) return CopyKind::host_to_device;
  if (name.find("DtoH") != std::string::npos) return CopyKind::device_to_host;
  if (name.find("DtoD") != std::string::npos) return CopyKind::within_device;
  return name.find("PtoP") != std::string::npos ? CopyKind::between_devices : CopyKind::unknown;
}

DeviceWork torch_work(const Json& event, const std::string& category, const Json& arguments, const Span& span) {
  DeviceWork work;
  work.time = span;
  work.kind = category == "kernel"       ? RecordKind::kernel
              : category == "gpu_memcpy" ? RecordKind::copy
                                         : RecordKind::set;
  if (work.kind == RecordKind::copy) work.copy = copy_kind(event_text(event, "name"));
  work.stream = static_cast<std::uint32_t>(whole_of(arguments, "stream").value_or(0));
  work.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, whole_of(arguments, "bytes").value_or(0)));
  return work;
}

void add_event(const Json& event, TraceBuilder& builder) {
  const std::string category = event_text(event, "cat");
  const std::optional<Span> span = span_of(event);
  if (!span) return;
  const std::string name = event_text(event, "name");
  if (category == "user_annotation") return builder.add_range(*span, name, whole_of(event, "tid").value_or(0));
  if (category != "kernel" && category != "gpu_memcpy" && category != "gpu_memset") return;
  const Json none = Json::object();
  const Json& arguments = event.contains("args") && event["args"].is_object() ? event["args"] : none;
  const std::int64_t device = whole_of(arguments, "device").value_or(whole_of(event, "pid").value_or(0));
  builder.add_work(torch_work(event, category, arguments, *span), device, name);
}

void add_facts(const Json& json, TraceBuilder& builder) {
  if (json.contains("distributedInfo")) {
    if (const auto rank = whole_of(json["distributedInfo"], "rank"))
      builder.process().rank = static_cast<int>(*rank);
  }
  if (!json.contains("deviceProperties") || !json["deviceProperties"].is_array()) return;
  for (const Json& device : json["deviceProperties"]) {
    if (const auto id = whole_of(device, "id")) builder.name_device(*id, event_text(device, "name"));
  }
}

}  // namespace

void add_torch_trace(const std::filesystem::path& file, const std::string& text, TraceBuilder& builder) {
  const Json json = parse_json(text);
  if (!json.is_object() || !json.contains("traceEvents") || !json["traceEvents"].is_array())
    throw_bad_input("/traceEvents: expected the list of a Chrome trace, as PyTorch's profiler writes it");
  builder.begin_process(file.filename().string(), file.stem().string());
  add_facts(json, builder);
  for (const Json& event : json["traceEvents"]) {
    if (event.is_object() && event_text(event, "ph") == "X") add_event(event, builder);
  }
  builder.end_process();
}

}  // namespace sextant::trace
