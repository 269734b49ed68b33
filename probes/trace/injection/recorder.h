// Records the activity of one process in its own file, from a thread of its own.
//
// Callers on the program's threads only append to a batch in memory. The thread writes batches as whole chunks,
// so that a killed process loses only data younger than Settings::flush_s, and the device buffer that is being
// filled. Nothing here throws into the traced program: a failure is reported once on stderr, and recording
// stops. Ranges and limits are here, device activity is in device_recording.h.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "probes/trace/injection/device_recording.h"
#include "probes/trace/injection/trace_file.h"
#include "probes/trace/record/chunk_writer.h"
#include "probes/trace/record/settings.h"

namespace sextant::trace {

class Recorder {
 public:
  // The recorder of this process, started on first use (in a forked child too); null: not traced.
  static Recorder* instance();

  // `is_inside_pushed`: its thread has open pushed ranges.
  void begin_range(std::uint64_t id, std::string_view name, RangeStyle style, bool is_inside_pushed);
  void end_range(std::uint64_t id);
  [[nodiscard]] static std::uint64_t next_id();

  // Call it after CUDA's initialisation in this process: starts to record device activity.
  void attach_device();
  // Writes everything and ends; called when the process exits, a second call has no effect.
  void finish();

 private:
  explicit Recorder(Settings settings);
  void run();
  void turn(bool is_last);  // one round of the thread
  void write_ranges();
  // Called with mutex_ held: returns false if the range would begin a step beyond the limit.
  [[nodiscard]] bool is_within_steps(std::string_view name, bool is_inside_pushed);
  void check_bounds();
  // Returns whether no limit has ended the recording; turn() may not have handled the end yet.
  [[nodiscard]] bool goes_on();
  [[nodiscard]] bool has_room() const;  // in the file
  void stop(const std::string& reason);
  void say_no_device(const std::string& failure_reason);
  void append(ChunkType type, std::string_view payload);

  Settings settings_;
  TraceFile file_;
  std::uint64_t began_at_ = 0;  // monotonic
  std::atomic<bool> is_recording_{true};
  DeviceRecording device_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable wake_done_;
  RecordBatch ranges_;
  std::uint64_t dropped_ranges_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> steps_;
  std::set<std::uint64_t> started_;  // open start/end ranges, if outermost ones are steps
  std::string stop_reason_;
  std::string device_trouble_;
  bool has_work_ = false;
  bool is_finishing_ = false;
  bool is_done_ = false;
  std::thread thread_;
};

}  // namespace sextant::trace
