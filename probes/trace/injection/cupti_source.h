// Records device activity of this process through CUPTI: converts its buffers to records.
//
// CUPTI returns buffers on a thread of its own; they are only queued there. The recorder's thread converts
// them. Only one object per process, since CUPTI's callbacks carry no user data.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "probes/trace/injection/cupti_library.h"
#include "probes/trace/record/chunk_writer.h"
#include "probes/trace/record/recording_pace.h"
#include "probes/trace/record/settings.h"

namespace sextant::trace {

class CuptiSource {
 public:
  static CuptiSource& instance();

  // Opens CUPTI and starts. Returns why that failed, one line; empty: device activity is being recorded.
  [[nodiscard]] std::string start(const Settings& settings, std::function<void()> has_buffers);
  [[nodiscard]] bool is_started() const { return started_; }
  [[nodiscard]] const std::string& about() const { return about_; }  // "CUPTI 130001 from libcupti.so.13"

  // Until resume only launches of whole graphs are recorded. That kind stays on from the first call into CUDA
  // to the end: with CUPTI 13.0 a graph that was captured while it was off ends the program with a segmentation
  // fault when it is replayed while it is on. cuptiFinalize, which would detach CUPTI altogether, is not an
  // alternative: graphs that were captured before it write to memory that it has freed.
  void pause();
  // Returns the reason for a failure, one line, like start.
  [[nodiscard]] std::string resume();
  // Stops recording permanently.
  void stop();
  // Requests the completed buffers; `all`: also those with unfinished activity.
  void flush(bool all);
  struct Drained {
    DeviceCounts counts;
    std::uint64_t dropped = 0;  // records, since the last call
  };
  // Converts the returned buffers.
  Drained drain(RecordBatch& batch);
  // Discards the returned buffers that were not converted, and later ones. Returns the number of their records.
  [[nodiscard]] std::uint64_t discard();
  // Returns CUPTI's clock now; 0: there is none.
  [[nodiscard]] std::uint64_t timestamp() const;

  // CUPTI calls these.
  void give_buffer(std::uint8_t** buffer, std::size_t* size);
  void take_buffer(std::uint8_t* buffer, std::size_t valid_bytes);

 private:
  struct Buffer {
    std::uint8_t* bytes = nullptr;
    std::size_t valid_bytes = 0;
  };

  [[nodiscard]] DeviceCounts convert_buffer(const Buffer& buffer, RecordBatch& batch);
  [[nodiscard]] std::uint64_t count_records(const Buffer& buffer) const;
  [[nodiscard]] std::string begin();
  [[nodiscard]] std::string enable_all();
  void disable_all();
  void release(std::uint8_t* buffer);

  CuptiLibrary library_;
  void* subscriber_ = nullptr;
  bool graph_nodes_ = false;
  std::uint64_t max_waiting_ = 0;  // maximum number of buffers
  std::uint32_t last_correlation_ = 0;
  bool started_ = false;
  std::string about_;
  std::function<void()> has_buffers_;
  std::mutex mutex_;
  std::deque<Buffer> full_;
  std::vector<std::uint8_t*> spare_;
  std::set<const std::uint8_t*> given_;  // given to CUPTI, and not yet returned
  std::uint64_t dropped_ = 0;
};

}  // namespace sextant::trace
