#include "probes/trace/injection/cupti_source.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "probes/trace/injection/activity.h"

namespace sextant::trace {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{2}
                                     << 20;  // ten thousand kernels; a killed process loses the last
constexpr std::size_t kMaxSpare = 8;
constexpr std::array kKinds{cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kPeerMemcpy, cupti::kMemset,
                            cupti::kOverhead};

void on_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *max_records = 0;
  CuptiSource::instance().give_buffer(buffer, size);
}

void on_completed(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer, std::size_t /*size*/,
                  std::size_t valid_bytes) {
  CuptiSource::instance().take_buffer(buffer, valid_bytes);
}

// The subscription only says that CUPTI is in use; no callback is enabled.
void on_callback(void* /*user*/, std::int32_t /*domain*/, std::uint32_t /*id*/, const void* /*data*/) {}

std::string why_no_subscription(const CuptiLibrary& library, cupti::Result result) {
  if (result == cupti::kMultipleSubscribers) {
    return "another tool (Nsight, PyTorch's profiler, compute-sanitizer) is using CUPTI, which serves one at a "
           "time: "
           "run without it to have kernels";
  }
  return "cuptiSubscribe failed: " + describe(library, result);
}

}  // namespace

CuptiSource& CuptiSource::instance() {
  static CuptiSource* const one = new CuptiSource;  // never destroyed: CUPTI may call until the process is gone
  return *one;
}

std::string CuptiSource::start(const Settings& settings, std::function<void()> has_buffers) {
  library_ = open_cupti(settings.cupti);
  if (!library_) return library_.failure_reason;
  has_buffers_ = std::move(has_buffers);
  graph_nodes_ = settings.graph_nodes;
  max_waiting_ = settings.max_waiting_buffers;
  if (std::string failure_reason = begin(); !failure_reason.empty()) return failure_reason;
  std::uint32_t version = 0;
  library_.functions.get_version(&version);
  about_ = "CUPTI " + std::to_string(version) + " from " + library_.path;
  started_ = true;
  return "";
}

std::string CuptiSource::begin() {
  const cupti::Functions& call = library_.functions;
  if (const auto result = call.subscribe(&subscriber_, on_callback, nullptr); result != cupti::kSuccess) {
    return why_no_subscription(library_, result);
  }
  std::string failure_reason;
  if (const auto result = call.activity_register_callbacks(on_requested, on_completed);
      result != cupti::kSuccess) {
    failure_reason = "cuptiActivityRegisterCallbacks failed: " + describe(library_, result);
  } else {
    // With this kind on, CUPTI leaves out the kernels inside, which is what makes a replayed graph cheap.
    if (!graph_nodes_) call.activity_enable(cupti::kGraphTrace);
    failure_reason = enable_all();
  }
  if (!failure_reason.empty()) call.unsubscribe(subscriber_);
  return failure_reason;
}

// Kernels decide; any other kind may be missing from an old CUPTI.
std::string CuptiSource::enable_all() {
  for (const auto kind : kKinds) {
    const auto result = library_.functions.activity_enable(kind);
    if (kind == cupti::kConcurrentKernel && result != cupti::kSuccess) {
      return "CUPTI does not record kernels: " + describe(library_, result);
    }
  }
  return "";
}

void CuptiSource::disable_all() {
  for (const auto kind : kKinds) library_.functions.activity_disable(kind);
}

void CuptiSource::pause() {
  if (started_) disable_all();
}

std::string CuptiSource::resume() { return started_ ? enable_all() : ""; }

void CuptiSource::stop() {
  if (!started_) return;
  disable_all();
  library_.functions.activity_disable(cupti::kGraphTrace);
  library_.functions.unsubscribe(subscriber_);
}

void CuptiSource::flush(bool all) {
  if (started_) library_.functions.activity_flush_all(all ? cupti::kFlushForced : 0);
}

std::uint64_t CuptiSource::timestamp() const {
  std::uint64_t now = 0;
  if (!started_ || library_.functions.get_timestamp(&now) != cupti::kSuccess) return 0;
  return now;
}

void CuptiSource::give_buffer(std::uint8_t** buffer, std::size_t* size) {
  const std::lock_guard lock(mutex_);
  *size = kBufferBytes;
  if (!spare_.empty()) {
    *buffer = spare_.back();
    spare_.pop_back();
  } else {
    constexpr std::size_t kAlignment = 8;  // of records
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  }
  if (*buffer == nullptr) {
    *size = 0;
  } else {
    given_.insert(*buffer);
  }
}

void CuptiSource::take_buffer(std::uint8_t* buffer, std::size_t valid_bytes) {
  if (buffer == nullptr) return;
  std::size_t dropped = 0;
  library_.functions.activity_get_num_dropped_records(nullptr, 0, &dropped);
  bool is_too_many = false;
  {
    const std::lock_guard lock(mutex_);
    dropped_ += dropped;
    if (given_.erase(buffer) == 0) return;  // another tool's, from before or after us
    is_too_many = full_.size() >= max_waiting_;
    if (!is_too_many && valid_bytes > 0) full_.push_back({buffer, valid_bytes});
  }
  if (is_too_many) {
    const std::uint64_t lost = count_records({buffer, valid_bytes});
    const std::lock_guard lock(mutex_);
    dropped_ += lost;
  }
  if (is_too_many || valid_bytes == 0) release(buffer);
  has_buffers_();
}

void CuptiSource::release(std::uint8_t* buffer) {
  {
    const std::lock_guard lock(mutex_);
    if (spare_.size() < kMaxSpare) {
      spare_.push_back(buffer);
      return;
    }
  }
  std::free(buffer);
}

std::uint64_t CuptiSource::count_records(const Buffer& buffer) const {
  std::uint64_t count = 0;
  cupti::Activity* record = nullptr;
  while (library_.functions.activity_get_next_record(buffer.bytes, buffer.valid_bytes, &record) ==
         cupti::kSuccess) {
    ++count;
  }
  return count;
}

DeviceCounts CuptiSource::convert_buffer(const Buffer& buffer, RecordBatch& batch) {
  cupti::Activity* activity = nullptr;
  DeviceCounts counts;
  std::uint64_t without_times = 0;
  while (library_.functions.activity_get_next_record(buffer.bytes, buffer.valid_bytes, &activity) ==
         cupti::kSuccess) {
    const ConvertedActivity converted = convert(*activity);
    if (converted.is_wanted) batch.add(converted.record, converted.name);
    if (converted.lacks_times) ++without_times;
    if (!converted.is_wanted || converted.record.kind == RecordKind::overhead) continue;
    // All nodes of a graph's launch have its number.
    const bool is_same_launch =
        converted.record.correlation == std::exchange(last_correlation_, converted.record.correlation);
    ++(is_same_launch ? counts.nodes : counts.launches);
  }
  const std::lock_guard lock(mutex_);
  dropped_ += without_times;
  return counts;
}

CuptiSource::Drained CuptiSource::drain(RecordBatch& batch) {
  constexpr std::size_t kMaxBatchBytes = std::size_t{8} << 20;  // the rest on the next call
  Drained drained;
  while (batch.bytes() < kMaxBatchBytes) {
    Buffer buffer;
    {
      const std::lock_guard lock(mutex_);
      if (full_.empty()) break;
      buffer = full_.front();
      full_.pop_front();
    }
    drained.counts += convert_buffer(buffer, batch);
    release(buffer.bytes);
  }
  const std::lock_guard lock(mutex_);
  drained.dropped = std::exchange(dropped_, 0);
  return drained;
}

std::uint64_t CuptiSource::discard() {
  std::deque<Buffer> unread;
  {
    const std::lock_guard lock(mutex_);
    std::swap(unread, full_);
    max_waiting_ = 0;
  }
  std::uint64_t lost = 0;
  for (const Buffer& buffer : unread) {
    lost += count_records(buffer);
    release(buffer.bytes);
  }
  return lost;
}

}  // namespace sextant::trace
