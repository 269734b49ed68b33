#include "probes/trace/injection/recorder.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "probes/trace/injection/host_clock.h"
#include "probes/trace/injection/process_facts.h"

namespace sextant::trace {
namespace {

constexpr std::size_t kWakeRangeBytes = std::size_t{1} << 20;
constexpr double kPacedPatience_s = 0.05;  // between two looks at whether to record on

std::uint32_t thread_id() {
  thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return id;
}

std::atomic<Recorder*> current{nullptr};
std::atomic<bool> is_creating{false};
std::atomic<std::uint64_t> last_id{0};

void finish_current() {
  if (Recorder* recorder = current.load()) recorder->finish();
}

// The parent's recorder has its thread and its file there. A child that records begins its own.
void forget_in_child() {
  current.store(nullptr);
  is_creating.store(false);
}

void arrange_ends() {
  static std::atomic<bool> is_arranged{false};
  if (is_arranged.exchange(true)) return;
  pthread_atfork(nullptr, nullptr, forget_in_child);
}

}  // namespace

Recorder* Recorder::instance() {
  if (Recorder* recorder = current.load(std::memory_order_acquire)) return recorder;
  static const std::optional<Settings> settings = settings_from_environment();
  if (!settings) return nullptr;
  while (is_creating.exchange(true)) {
    if (Recorder* recorder = current.load()) return recorder;
    sched_yield();
  }
  if (current.load() == nullptr) {
    arrange_ends();
    current.store(new Recorder(*settings), std::memory_order_release);  // lives as long as the process
    std::atexit(finish_current);
  }
  is_creating.store(false);
  return current.load();
}

std::uint64_t Recorder::next_id() { return ++last_id; }

Recorder::Recorder(Settings settings)
    : settings_(std::move(settings)),
      began_at_(now_ns()),
      device_(settings_, {[this](ChunkType type, std::string_view payload) { append(type, payload); },
                          [this](const std::string& failure_reason) { say_no_device(failure_reason); },
                          [this] { return goes_on(); }, [this] { return has_room(); }}) {
  file_.name_it(settings_.folder + "/" + host_name() + "-" + std::to_string(getpid()) + "-" +
                std::to_string(began_at_) + kFileEnding);
  thread_ = std::thread([this] { run(); });
}

void Recorder::begin_range(std::uint64_t id, std::string_view name, RangeStyle style, bool is_inside_pushed) {
  if (!is_recording_.load(std::memory_order_relaxed)) return;
  Record record;
  record.kind = RecordKind::range_begin;
  record.detail = static_cast<std::uint8_t>(style);
  record.stream = thread_id();
  record.start = now_ns();
  record.value = id;
  const std::lock_guard lock(mutex_);
  if (settings_.max_steps > 0) {
    if (!is_within_steps(name, is_inside_pushed)) return;
    if (settings_.step_range.empty() && style == RangeStyle::start_end) started_.insert(id);
  }
  if (ranges_.bytes() >= settings_.max_range_bytes) {
    ++dropped_ranges_;
    return;
  }
  ranges_.add(record, name);
  if (ranges_.bytes() >= kWakeRangeBytes && !has_work_) {
    has_work_ = true;
    wake_.notify_one();
  }
}

// Start/end ranges belong to no thread, so that one that is open encloses what any thread begins.
bool Recorder::is_within_steps(std::string_view name, bool is_inside_pushed) {
  const bool is_outermost = !is_inside_pushed && started_.empty();
  const bool is_step = settings_.step_range.empty() ? is_outermost : name == settings_.step_range;
  if (!is_step) return true;
  const auto found = steps_.find(name);
  std::uint64_t& begun = found != steps_.end() ? found->second : steps_[std::string(name)];
  if (++begun <= settings_.max_steps) return true;
  is_recording_ = false;
  stop_reason_ = std::to_string(settings_.max_steps) + " steps are recorded";
  has_work_ = true;
  wake_.notify_one();
  return false;
}

void Recorder::end_range(std::uint64_t id) {
  if (!is_recording_.load(std::memory_order_relaxed)) return;
  Record record;
  record.kind = RecordKind::range_end;
  record.stream = thread_id();
  record.start = now_ns();
  record.value = id;
  const std::lock_guard lock(mutex_);
  started_.erase(id);
  if (ranges_.bytes() < settings_.max_range_bytes) {
    ranges_.add(record);
  } else {
    ++dropped_ranges_;
  }
}

void Recorder::attach_device() {
  if (!settings_.device || !is_recording_) return;
  const std::string failure_reason = device_.start([this] {
    const std::lock_guard lock(mutex_);
    has_work_ = true;
    wake_.notify_one();
  });
  if (!failure_reason.empty()) return say_no_device(failure_reason);
  // Runs before what CUDA itself does at exit, because it is arranged after it.
  std::atexit(finish_current);
}

void Recorder::say_no_device(const std::string& failure_reason) {
  const std::string sentence = "no kernels are recorded, phases are timed all the same: " + failure_reason;
  const std::lock_guard lock(mutex_);
  std::fprintf(stderr, "sextant trace: %s\n", sentence.c_str());
  device_trouble_ = sentence;
}

void Recorder::finish() {
  {
    const std::lock_guard lock(mutex_);
    if (is_finishing_) return;
    is_finishing_ = true;
    wake_.notify_one();
  }
  constexpr auto kPatience = std::chrono::seconds(20);  // a device that hangs must not keep the program
  std::unique_lock lock(mutex_);
  const bool is_done = wake_done_.wait_for(lock, kPatience, [this] { return is_done_; });
  is_recording_ = false;
  lock.unlock();
  if (is_done) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void Recorder::run() {
  pthread_setname_np(pthread_self(), "sextant-trace");
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // the program's signals are for its own threads
  bool is_last = false;
  while (!is_last) {
    {
      std::unique_lock lock(mutex_);
      const double patience_s =
          device_.is_paced() ? std::min(kPacedPatience_s, settings_.flush_s) : settings_.flush_s;
      wake_.wait_for(lock, std::chrono::duration<double>(patience_s),
                     [this] { return has_work_ || is_finishing_; });
      has_work_ = false;
      is_last = is_finishing_;
    }
    turn(is_last);
  }
  const std::lock_guard lock(mutex_);
  is_done_ = true;
  wake_done_.notify_all();
}

void Recorder::turn(bool is_last) {
  check_bounds();
  write_ranges();
  if (device_.is_on()) device_.write(is_last, is_recording_);
  const auto taken = [this](std::string& text) {
    const std::lock_guard lock(mutex_);
    return std::exchange(text, "");
  };
  if (const std::string trouble = taken(device_trouble_); !trouble.empty()) {
    append(ChunkType::status, "{\"device\":" + json_text(trouble) + "}");
  }
  if (const std::string reason = taken(stop_reason_); !reason.empty()) stop(reason);
  // CUDA was initialised in the moment in which recording ended.
  if (!is_recording_ && !is_last) device_.stop();
  if (is_last && file_.is_made()) append(ChunkType::status, R"({"finished":true})");
}

void Recorder::append(ChunkType type, std::string_view payload) {
  if (!file_.is_made()) file_.append(ChunkType::process, process_facts());
  if (file_.append(type, payload) || !is_recording_) return;
  is_recording_ = false;
  std::fprintf(stderr, "sextant trace: recording of process %d stopped: %s\n", getpid(), file_.error().c_str());
  const std::lock_guard lock(mutex_);
  stop_reason_ = file_.error();
}

void Recorder::write_ranges() {
  RecordBatch batch;
  {
    const std::lock_guard lock(mutex_);
    std::swap(batch, ranges_);
    if (dropped_ranges_ > 0) {
      Record record;
      record.kind = RecordKind::dropped_ranges;
      record.value = std::exchange(dropped_ranges_, 0);
      batch.add(record);
    }
  }
  if (batch.empty()) return;
  if (!device_.is_on()) device_.add_clocks(batch);
  append(ChunkType::records, batch.seal());
}

void Recorder::check_bounds() {
  if (!is_recording_) return;
  std::string reason;
  if (settings_.max_seconds > 0 && now_ns() - began_at_ >= nanoseconds(settings_.max_seconds)) {
    reason = "the time asked for is over";
  }
  if (!has_room()) reason = "the file is as large as allowed";
  if (reason.empty()) return;
  is_recording_ = false;
  const std::lock_guard lock(mutex_);
  stop_reason_ = reason;
}

bool Recorder::goes_on() {
  check_bounds();
  const std::lock_guard lock(mutex_);
  return stop_reason_.empty();
}

bool Recorder::has_room() const {
  return file_.error().empty() && (settings_.max_bytes == 0 || file_.bytes() < settings_.max_bytes);
}

void Recorder::stop(const std::string& reason) {
  device_.stop();
  append(ChunkType::status, "{\"stopped\":" + json_text(reason) + "}");
}

}  // namespace sextant::trace
