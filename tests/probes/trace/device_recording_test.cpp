// Device activity on its way from a CUPTI that the test feeds to the file, in this process.
#include "probes/trace/injection/device_recording.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "probes/trace/analysis/trace.h"
#include "tests/core/built_files.h"

namespace sextant::trace {
namespace {

class DeviceActivity : public ::testing::Test {
 protected:
  DeviceActivity() { settings_.cupti = test::built_file("sextant_fake_cupti"); }
  ~DeviceActivity() override { recording_.stop(); }

  void start() {
    ASSERT_EQ(recording_.start([] {}), "");
  }
  template <typename Function>
  static Function fake(const char* name) {
    return reinterpret_cast<Function>(
        dlsym(dlopen(test::built_file("sextant_fake_cupti").c_str(), RTLD_NOW | RTLD_NOLOAD), name));
  }
  static void launch(std::uint64_t count) {
    fake<void (*)(const char*, std::uint64_t)>("fake_cupti_launch")("k", count);
  }
  // The content of the file so far, read back.
  [[nodiscard]] Trace trace() const {
    return merge_traces({{"file", make_chunk(ChunkType::process, 0, "{}") + chunks_}});
  }

  Settings settings_;
  std::string chunks_;
  int batches_ = 0;
  int max_batches_ = 1'000;  // the recording goes on until so many are written
  bool has_room_ = true;
  DeviceRecording recording_{
      settings_,
      {[this](ChunkType type, std::string_view payload) {
         chunks_ += make_chunk(type, ++sequence_, payload);
         if (type == ChunkType::records) ++batches_;
       },
       [](const std::string&) {}, [this] { return batches_ < max_batches_; }, [this] { return has_room_; }}};

 private:
  std::uint64_t sequence_ = 0;
};

constexpr std::uint64_t kBurst = 500'000;
constexpr std::uint64_t kCopies = kBurst / 100;  // the fake's, behind each hundredth kernel

TEST_F(DeviceActivity, ABurstIsWrittenUntilTheBoundAndTheRestIsCounted) {
  max_batches_ = 1;
  start();
  launch(kBurst);
  recording_.write(false, true);
  EXPECT_EQ(batches_, 1);
  has_room_ = false;
  recording_.stop();
  const Trace all = trace();
  const Process& process = all.processes.at(0);
  EXPECT_LT(all.work.size(), kBurst);
  EXPECT_EQ(all.work.size() + process.dropped_records, kBurst + kCopies);
  // Omitted time is not idle: recording ends with what was written, which the fake has begin half a second ago,
  // before this recording.
  ASSERT_EQ(process.recorded.size(), 1U);
  EXPECT_EQ(process.recorded[0].length(), 0);
}

TEST_F(DeviceActivity, AfterABoundOfTimeWhatWasRecordedIsWritten) {
  max_batches_ = 1;
  start();
  launch(kBurst);
  recording_.write(false, true);
  recording_.stop();
  const Trace all = trace();
  EXPECT_EQ(all.work.size(), kBurst + kCopies);
  EXPECT_EQ(all.processes.at(0).dropped_records, 0U);
  EXPECT_FALSE(recording_.is_on());
}

TEST_F(DeviceActivity, MoreBuffersThanMayWaitAreCounted) {
  settings_.max_waiting_buffers = 2;
  start();
  launch(kBurst);
  recording_.write(true, true);
  const Trace all = trace();
  EXPECT_GT(all.work.size(), 10'000U);  // two buffers
  EXPECT_LT(all.work.size(), 40'000U);
  EXPECT_EQ(all.work.size() + all.processes.at(0).dropped_records, kBurst + kCopies);
}

TEST_F(DeviceActivity, BuffersOfAnotherToolAreLeftAlone) {
  start();
  launch(10);
  fake<void (*)()>("fake_cupti_foreign_buffer")();
  recording_.write(true, true);
  EXPECT_EQ(trace().work.size(), 10U);
  EXPECT_EQ(trace().processes.at(0).dropped_records, 0U);
}

TEST_F(DeviceActivity, AllKindsReachTheTrace) {
  start();
  fake<void (*)()>("fake_cupti_other_kinds")();
  recording_.write(true, true);
  const Trace all = trace();
  ASSERT_EQ(all.work.size(), 3U);
  EXPECT_EQ(all.work[0].kind, RecordKind::copy);
  EXPECT_EQ(all.work[0].copy, CopyKind::between_devices);
  EXPECT_EQ(all.work[0].bytes, 100U);
  EXPECT_EQ(all.work[1].kind, RecordKind::set);
  EXPECT_EQ(all.work[1].bytes, 200U);
  EXPECT_EQ(all.work[2].kind, RecordKind::graph);
  EXPECT_NEAR(all.processes.at(0).overhead_s, 1e-6, 1e-12);
}

}  // namespace
}  // namespace sextant::trace
