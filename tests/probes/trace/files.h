// Files of traced processes, made by hand.
#pragma once

#include <string>

#include "probes/trace/analysis/trace.h"
#include "probes/trace/record/chunk_writer.h"

namespace sextant::trace::test {

constexpr std::uint64_t kMs = 1'000'000;  // ns

// A process on `host`: its monotonic clock is CUPTI's time minus `lag`, and real time minus `real`.
class ProcessFile {
 public:
  ProcessFile(std::string host, int pid, std::uint64_t lag = 0, std::uint64_t real = 0)
      : host_(std::move(host)), pid_(pid), lag_(lag), real_(real) {}

  // Times in milliseconds of the monotonic clock.
  ProcessFile& kernel(const std::string& name, double from, double to, int device = 0, unsigned stream = 7) {
    return device_work(RecordKind::kernel, name, from, to, device, stream, 0, 0);
  }
  ProcessFile& copy(double from, double to, std::uint64_t bytes, CopyKind kind, int device = 0) {
    return device_work(RecordKind::copy, "", from, to, device, 8, bytes, static_cast<std::uint8_t>(kind));
  }
  ProcessFile& graph(double from, double to, int device = 0) {
    return device_work(RecordKind::graph, "", from, to, device, 7, 1, 0);
  }
  ProcessFile& range(const std::string& name, double from, double to, unsigned thread = 1) {
    const std::uint64_t id = ++last_id_;
    event(RecordKind::range_begin, from, id, name, thread);
    event(RecordKind::range_end, to, id, "", thread);
    return *this;
  }
  // Begun and ended as start/end ranges are.
  ProcessFile& started_range(const std::string& name, double from, double to, unsigned thread = 1) {
    const std::uint64_t id = ++last_id_;
    event(RecordKind::range_begin, from, id, name, thread, static_cast<std::uint8_t>(RangeStyle::start_end));
    event(RecordKind::range_end, to, id, "", thread);
    return *this;
  }
  ProcessFile& overhead(double from, double to) {
    return device_work(RecordKind::overhead, "", from, to, 0, 0, 0, 0);
  }
  ProcessFile& open_range(const std::string& name, double from) {
    event(RecordKind::range_begin, from, ++last_id_, name, 1);
    return *this;
  }
  ProcessFile& recording(double from, bool is_on) {
    event(RecordKind::recording, from, is_on ? 1 : 0, "", 0);
    return *this;
  }
  ProcessFile& count(RecordKind kind, std::uint64_t value) {
    event(kind, 0, value, "", 0);
    return *this;
  }
  ProcessFile& clock(double at) {
    Record record;
    record.kind = RecordKind::clocks;
    record.start = ns(at);
    record.end = ns(at) + real_;
    record.value = ns(at) + lag_;
    batch_.add(record);
    return *this;
  }
  ProcessFile& status(const std::string& json) {
    statuses_.push_back(json);
    return *this;
  }
  [[nodiscard]] TraceFileText text() {
    std::string bytes =
        make_chunk(ChunkType::process, 0,
                   R"({"host":")" + host_ + R"(","pid":)" + std::to_string(pid_) + R"(,"command":"x"})");
    std::uint64_t sequence = 1;
    bytes += make_chunk(ChunkType::records, sequence++, batch_.seal());
    for (const std::string& json : statuses_) bytes += make_chunk(ChunkType::status, sequence++, json);
    return {host_ + "-" + std::to_string(pid_), bytes};
  }

 private:
  static constexpr std::uint64_t kBase = 5'000'000'000;  // since the host started
  static std::uint64_t ns(double ms) {
    return kBase + static_cast<std::uint64_t>(ms * static_cast<double>(kMs));
  }

  ProcessFile& device_work(RecordKind kind, const std::string& name, double from, double to, int device,
                           unsigned stream, std::uint64_t value, std::uint8_t detail) {
    Record record;
    record.kind = kind;
    record.detail = detail;
    record.device = static_cast<std::uint16_t>(device);
    record.stream = stream;
    record.start = ns(from) + lag_;
    record.end = ns(to) + lag_;
    record.value = value;
    batch_.add(record, name);
    return *this;
  }
  void event(RecordKind kind, double at, std::uint64_t value, const std::string& name, unsigned thread,
             std::uint8_t detail = 0) {
    Record record;
    record.kind = kind;
    record.detail = detail;
    record.stream = thread;
    record.start = ns(at);
    record.value = value;
    batch_.add(record, name);
  }

  std::string host_;
  int pid_;
  std::uint64_t lag_, real_;
  std::uint64_t last_id_ = 0;
  RecordBatch batch_;
  std::vector<std::string> statuses_;
};

}  // namespace sextant::trace::test
