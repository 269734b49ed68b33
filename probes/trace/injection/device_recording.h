// Moves device activity from CUPTI to the process's file: clocks, pauses, descriptions of devices. All but
// start and is_on are for the recorder's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "probes/trace/record/chunk_writer.h"
#include "probes/trace/record/record.h"
#include "probes/trace/record/recording_pace.h"
#include "probes/trace/record/settings.h"

namespace sextant::trace {

class DeviceRecording {
 public:
  struct Owner {
    std::function<void(ChunkType, std::string_view)> append;  // appends to the file
    std::function<void(const std::string&)> say_why_not;      // recording has ended by itself
    std::function<bool()> goes_on;   // called before each chunk: no limit of the recording is reached
    std::function<bool()> has_room;  // ... nor that of the file, which applies even after all others
  };
  DeviceRecording(const Settings& settings, Owner owner);

  // Call it after CUDA's initialisation. Returns why nothing is recorded, one line; empty: recording started.
  [[nodiscard]] std::string start(std::function<void()> has_buffers);
  [[nodiscard]] bool is_on() const { return is_on_; }
  // Whether it needs attention more often than flush_s.
  [[nodiscard]] bool is_paced() const { return is_on_ && pace_.has_pauses(); }

  // One round; `is_recording`: no limit of the recording is reached.
  void write(bool is_last, bool is_recording);
  // Adds a reading of the clocks, with CUPTI's if it is in use.
  void add_clocks(RecordBatch& batch);
  // Writes all records that fit, and ends. Records that do not fit are counted.
  void stop();

 private:
  void drain(RecordBatch& batch, const std::function<bool()>& goes_on);
  // The monotonic time of the end of the last written activity.
  [[nodiscard]] std::uint64_t written_until() const;
  void keep_pace(RecordBatch& batch);
  void note_devices(const RecordBatch& batch);

  const Settings& settings_;
  Owner owner_;
  std::atomic<bool> is_on_{false};
  std::uint64_t started_at_ = 0;  // monotonic; written before is_on_
  RecordingPace pace_;
  bool is_paused_ = false;
  bool is_described_ = false;        // the file says how device activity is recorded
  Record clocks_;                    // the last written reading
  std::uint64_t last_end_ = 0;       // end of the last written device activity, by CUPTI's clock
  std::set<std::uint16_t> devices_;  // devices that the file describes
};

}  // namespace sextant::trace
