#include "probes/trace/analysis/nsys_trace.h"

#include <algorithm>
#include <map>
#include <optional>

#include "probes/trace/analysis/sqlite_table.h"
#include "sextant/error.h"

namespace sextant::trace {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";

using Strings = std::map<std::int64_t, std::string>;

std::optional<Span> span_of_row(const SqliteRow& row) {
  const auto start = row.integer("start"), end = row.integer("end");
  return start && end && *start <= *end ? std::optional(Span{*start, *end}) : std::nullopt;
}

std::string string_of(const SqliteRow& row, const char* column, const Strings& strings) {
  const auto found = strings.find(row.integer(column).value_or(-1));
  return found == strings.end() ? "" : found->second;
}

// Numbers of copyKind in the exports: 1 host to device, 2 device to host, 8 within a device, 10 between devices.
CopyKind nsys_copy(std::int64_t kind) {
  if (kind == 1) return CopyKind::host_to_device;
  if (kind == 2) return CopyKind::device_to_host;
  if (kind == 8) return CopyKind::within_device;
  return kind == 10 ? CopyKind::between_devices : CopyKind::unknown;
}

void add_work_of(const SqliteDatabase& database, const char* table, RecordKind kind, const Strings& strings,
                 TraceBuilder& builder) {
  database.for_each_row(table, [&](const SqliteRow& row) {
    const auto span = span_of_row(row);
    if (!span) return;
    DeviceWork work;
    work.time = *span;
    work.kind = kind;
    work.stream = static_cast<std::uint32_t>(row.integer("streamId").value_or(0));
    work.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer("bytes").value_or(0)));
    if (kind == RecordKind::copy) work.copy = nsys_copy(row.integer("copyKind").value_or(0));
    builder.add_work(work, row.integer("deviceId").value_or(0), string_of(row, "demangledName", strings));
  });
}

// Push-pop ranges (59) and start-end ranges (60); others are marks and names.
void add_nvtx(const SqliteDatabase& database, const Strings& strings, TraceBuilder& builder) {
  constexpr std::int64_t kPushPop = 59, kStartEnd = 60;
  database.for_each_row("NVTX_EVENTS", [&](const SqliteRow& row) {
    const auto span = span_of_row(row);
    const std::int64_t type = row.integer("eventType").value_or(0);
    if (!span || (type != kPushPop && type != kStartEnd)) return;
    const std::string text = row.text("text");
    builder.add_range(*span, text.empty() ? string_of(row, "textId", strings) : text,
                      row.integer("globalTid").value_or(0));
  });
}

}  // namespace

void add_nsys_trace(const std::filesystem::path& file, const std::string& bytes, TraceBuilder& builder) {
  const SqliteDatabase database(bytes);
  if (!database.has_table(kKernels) && !database.has_table("NVTX_EVENTS"))
    throw_bad_input("no table " + std::string(kKernels) +
                    " and no NVTX_EVENTS, as Nsight Systems exports them");
  builder.begin_process(file.filename().string(), file.stem().string());
  Strings strings;
  database.for_each_row("StringIds", [&](const SqliteRow& row) {
    if (const auto id = row.integer("id")) strings[*id] = row.text("value");
  });
  database.for_each_row("TARGET_INFO_GPU", [&](const SqliteRow& row) {
    if (const auto id = row.integer("id")) builder.name_device(*id, row.text("name"));
  });
  add_work_of(database, kKernels, RecordKind::kernel, strings, builder);
  add_work_of(database, "CUPTI_ACTIVITY_KIND_MEMCPY", RecordKind::copy, strings, builder);
  add_work_of(database, "CUPTI_ACTIVITY_KIND_MEMSET", RecordKind::set, strings, builder);
  add_nvtx(database, strings, builder);
  builder.end_process();
}

}  // namespace sextant::trace
