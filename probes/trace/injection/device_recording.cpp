#include "probes/trace/injection/device_recording.h"

#include <algorithm>
#include <utility>

#include "probes/trace/injection/cupti_source.h"
#include "probes/trace/injection/host_clock.h"
#include "probes/trace/injection/process_facts.h"

namespace sextant::trace {
namespace {

void note_recording(std::uint64_t value, std::uint64_t when, RecordBatch& batch) {
  Record record;
  record.kind = RecordKind::recording;
  record.start = when;
  record.value = value;
  batch.add(record);
}

void note_dropped(std::uint64_t count, RecordBatch& batch) {
  if (count == 0) return;
  Record record;
  record.kind = RecordKind::dropped;
  record.value = count;
  batch.add(record);
}

}  // namespace

DeviceRecording::DeviceRecording(const Settings& settings, Owner owner)
    : settings_(settings), owner_(std::move(owner)), pace_(settings) {}

std::string DeviceRecording::start(std::function<void()> has_buffers) {
  std::string failure_reason = CuptiSource::instance().start(settings_, std::move(has_buffers));
  if (!failure_reason.empty()) return failure_reason;
  started_at_ = now_ns();
  is_on_ = true;
  return "";
}

void DeviceRecording::write(bool is_last, bool is_recording) {
  CuptiSource& source = CuptiSource::instance();
  const std::uint64_t now = now_ns();
  RecordBatch batch;
  if (!is_described_) {
    is_described_ = true;
    note_recording(1, started_at_, batch);
    owner_.append(ChunkType::status, "{\"cupti\":" + json_text(source.about()) + "}");
  }
  if (is_recording) keep_pace(batch);
  if (!is_on_) return;
  if (is_last || now - clocks_.start >= nanoseconds(settings_.flush_s)) {
    add_clocks(batch);
    source.flush(is_last);
  }
  drain(batch, owner_.goes_on);
}

void DeviceRecording::drain(RecordBatch& batch, const std::function<bool()>& goes_on) {
  while (goes_on()) {
    const CuptiSource::Drained drained = CuptiSource::instance().drain(batch);
    pace_.add(drained.counts);
    note_dropped(drained.dropped, batch);
    if (batch.empty()) return;
    note_devices(batch);
    owner_.append(ChunkType::records, batch.seal());
  }
  if (!batch.empty()) owner_.append(ChunkType::records, batch.seal());
}

void DeviceRecording::add_clocks(RecordBatch& batch) {
  const CuptiSource& source = CuptiSource::instance();
  Record best;
  best.kind = RecordKind::clocks;
  std::uint64_t narrowest = ~std::uint64_t{0};
  constexpr int kTries = 5;  // the one that was disturbed least is kept
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = now_ns();
    const std::uint64_t real = clock_ns(CLOCK_REALTIME);
    const std::uint64_t device = is_on_ ? source.timestamp() : 0;
    const std::uint64_t width = now_ns() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best.start = before + width / 2;
    best.end = real;
    best.value = device;
  }
  clocks_ = best;
  batch.add(best);
}

void DeviceRecording::keep_pace(RecordBatch& batch) {
  if (!pace_.has_pauses()) return;
  const bool records = pace_.records_at(static_cast<double>(now_ns()) * 1e-9);
  if (records != is_paused_) return;
  is_paused_ = !records;
  if (is_paused_) {
    note_recording(0, now_ns(), batch);
    CuptiSource::instance().pause();
    return;
  }
  if (const std::string failure_reason = CuptiSource::instance().resume(); !failure_reason.empty()) {
    owner_.say_why_not(failure_reason);
    return stop();
  }
  note_recording(1, now_ns(), batch);
}

void DeviceRecording::note_devices(const RecordBatch& batch) {
  for (const Record& record : batch.records()) {
    if (record.kind > RecordKind::graph) continue;
    last_end_ = std::max(last_end_, record.end);
    if (!devices_.insert(record.device).second) continue;
    const std::string facts = device_facts(record.device);
    if (!facts.empty()) owner_.append(ChunkType::status, facts);
  }
}

std::uint64_t DeviceRecording::written_until() const {
  if (clocks_.value == 0 || last_end_ == 0) return now_ns();
  return clocks_.start + last_end_ - clocks_.value;
}

void DeviceRecording::stop() {
  if (!is_on_) return;
  CuptiSource& source = CuptiSource::instance();
  const std::uint64_t now = now_ns();
  source.stop();
  source.flush(true);
  RecordBatch batch;
  drain(batch, owner_.has_room);
  // The device was not idle in what there is no room for.
  const std::uint64_t lost = source.discard();
  note_dropped(lost, batch);
  note_recording(0, lost > 0 ? std::min(now, written_until()) : now, batch);
  owner_.append(ChunkType::records, batch.seal());
  is_on_ = false;
}

}  // namespace sextant::trace
