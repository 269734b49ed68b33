// Device activity on its way from CUPTI to the process's file: clocks, pauses, what the devices are. All but
// start and is_on belong to the recorder's thread.
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
    std::function<void(ChunkType, std::string_view)> append;  // to the file
    std::function<void(const std::string&)> say_why_not;      // recording has ended by itself
    std::function<bool()> goes_on;   // asked before each chunk: no bound of the recording has been met
    std::function<bool()> has_room;  // ... nor that of the file, which holds when all others are met too
  };
  DeviceRecording(const Settings& settings, Owner owner);

  // CUDA has been initialised in this process. Why nothing is recorded, one line; empty: it is.
  [[nodiscard]] std::string start(std::function<void()> has_buffers);
  [[nodiscard]] bool is_on() const { return is_on_; }
  // It is to be looked after more often than flush_s says.
  [[nodiscard]] bool is_paced() const { return is_on_ && pace_.has_pauses(); }

  // One round; `is_recording`: no bound of the recording has been met.
  void write(bool is_last, bool is_recording);
  // The clocks read together, CUPTI's where it is in use.
  void add_clocks(RecordBatch& batch);
  // Writes what there is and has room, and ends. What has none is counted.
  void stop();

 private:
  void drain(RecordBatch& batch, const std::function<bool()>& goes_on);
  // When the last that was written ended, by the monotonic clock.
  [[nodiscard]] std::uint64_t written_until() const;
  void keep_pace(RecordBatch& batch);
  void note_devices(const RecordBatch& batch);

  const Settings& settings_;
  Owner owner_;
  std::atomic<bool> is_on_{false};
  std::uint64_t started_at_ = 0;  // monotonic; written before is_on_
  RecordingPace pace_;
  bool is_paused_ = false;
  bool is_described_ = false;        // the file says what device activity is recorded with
  Record clocks_;                    // that were written last
  std::uint64_t last_end_ = 0;       // of the device activity that was written, by CUPTI's clock
  std::set<std::uint16_t> devices_;  // that the file describes
};

}  // namespace sextant::trace
