// Many processes on one clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "core/json_value.h"
#include "probes/trace/analysis/clocks.h"
#include "probes/trace/analysis/trace.h"
#include "probes/trace/analysis/trace_events.h"
#include "tests/probes/trace/files.h"

namespace sextant::trace {
namespace {

using test::kMs;
using test::ProcessFile;
using ::testing::HasSubstr;

constexpr std::uint64_t kReal = 1'700'000'000'000'000'000;  // real time minus monotonic time

TEST(Clocks, FollowTheDriftBetweenReadings) {
  ProcessClocks clocks;
  const auto add = [&](std::uint64_t cupti, std::uint64_t monotonic) {
    Record record;
    record.kind = RecordKind::clocks;
    record.start = monotonic;
    record.end = monotonic + 1000;
    record.value = cupti;
    clocks.add(record);
  };
  add(20'000, 10'100);  // 100 later by the second reading
  add(10'000, 0);
  clocks.sort();
  EXPECT_EQ(clocks.monotonic_of(10'000, 0), 0);
  EXPECT_EQ(clocks.monotonic_of(15'000, 0), 5'050);
  EXPECT_EQ(clocks.monotonic_of(20'000, 0), 10'100);
  EXPECT_EQ(clocks.monotonic_of(30'000, 0), 20'100);
  EXPECT_EQ(clocks.monotonic_of(5'000, 0), -5'000);
  EXPECT_EQ(clocks.real_offset(), 1000);
}

TEST(Clocks, WithoutAReadingCuptiTellsRealTime) {
  EXPECT_EQ(ProcessClocks().monotonic_of(5000, 1000), 4000);
  EXPECT_EQ(ProcessClocks().real_offset(), std::nullopt);
}

// A driver marks, a worker computes: their CUPTI and monotonic clocks differ, the kernel lies inside the range.
TEST(Merge, DriverAndWorkerMeetOnTheHostsClock) {
  const Trace trace = merge_traces({ProcessFile("a", 1, 0, kReal).clock(0).range("gen", 10, 20).text(),
                                    ProcessFile("a", 2, kReal, kReal).clock(5).kernel("k", 12, 15).text()});
  ASSERT_EQ(trace.processes.size(), 2U);
  ASSERT_EQ(trace.work.size(), 1U);
  ASSERT_EQ(trace.ranges.size(), 1U);
  EXPECT_EQ(trace.ranges[0].time, (Span{0, 10 * static_cast<std::int64_t>(kMs)}));
  EXPECT_EQ(trace.work[0].time, (Span{2 * static_cast<std::int64_t>(kMs), 5 * static_cast<std::int64_t>(kMs)}));
  EXPECT_EQ(trace.names[static_cast<std::size_t>(trace.work[0].name)], "k");
}

// Hosts start at different times, so their monotonic clocks agree only through real time.
TEST(Merge, HostsMeetInRealTime) {
  const Trace trace =
      merge_traces({ProcessFile("a", 1, 0, kReal).clock(0).range("x", 10, 20).text(),
                    ProcessFile("b", 1, 0, kReal + 5 * kMs).clock(0).range("y", 10, 20).text()});
  ASSERT_EQ(trace.ranges.size(), 2U);
  EXPECT_EQ(trace.ranges[1].time.start - trace.ranges[0].time.start, 5 * static_cast<std::int64_t>(kMs));
}

TEST(Merge, ARangeThatNeverEndedEndsWithItsProcess) {
  const Trace trace =
      merge_traces({ProcessFile("a", 1).clock(0).open_range("gen", 10).kernel("k", 12, 30).text(),
                    ProcessFile("a", 2).clock(0).range("other", 0, 90).text()});
  ASSERT_EQ(trace.ranges.size(), 2U);
  EXPECT_TRUE(trace.ranges[1].is_cut);
  EXPECT_EQ(trace.ranges[1].time.length(), 20 * static_cast<std::int64_t>(kMs));
}

TEST(Merge, AnEndWithoutABeginningIsCounted) {
  const Trace trace = merge_traces({ProcessFile("a", 1).clock(0).count(RecordKind::range_end, 77).text()});
  EXPECT_EQ(trace.processes[0].unmatched_ends, 1U);
  EXPECT_TRUE(trace.ranges.empty());
}

// Two workers see one GPU each as their device 0; a third process shares the first one's.
TEST(Merge, DevicesAreToldApartByTheirUuid) {
  const auto worker = [](int pid, const std::string& uuid) {
    return ProcessFile("a", pid)
        .clock(0)
        .kernel("k", 1, 2)
        .status(R"({"device":0,"name":"GPU","uuid":")" + uuid + "\"}")
        .text();
  };
  const Trace trace = merge_traces({worker(1, "aa"), worker(2, "bb"), worker(3, "aa")});
  ASSERT_EQ(trace.devices.size(), 2U);
  EXPECT_EQ(trace.devices[0].name, "GPU");
  EXPECT_THAT(trace.processes[2].devices, ::testing::ElementsAre(0));
}

TEST(Merge, LossesAndTroublesAreTold) {
  const Trace trace = merge_traces({ProcessFile("a", 1)
                                        .clock(0)
                                        .count(RecordKind::dropped, 5)
                                        .count(RecordKind::dropped, 6)
                                        .count(RecordKind::dropped_ranges, 2)
                                        .status(R"({"stopped":"enough"})")
                                        .status(R"({"device":"no CUPTI"})")
                                        .text()});
  const Process& process = trace.processes.at(0);
  EXPECT_EQ(process.dropped_records, 11U);
  EXPECT_EQ(process.dropped_ranges, 2U);
  EXPECT_EQ(process.stopped, "enough");
  EXPECT_EQ(process.device_trouble, "no CUPTI");
  EXPECT_FALSE(process.is_finished);
}

TEST(Merge, TracingsOwnCostIsAddedUp) {
  const Trace trace =
      merge_traces({ProcessFile("a", 1).clock(0).overhead(1, 3).overhead(4, 4.5).overhead(9, 8).text()});
  EXPECT_NEAR(trace.processes.at(0).overhead_s, 2.5e-3, 1e-12);
  EXPECT_TRUE(trace.work.empty());
}

TEST(Merge, TheStyleOfARangeIsKept) {
  const Trace trace =
      merge_traces({ProcessFile("a", 1).clock(0).range("pushed", 0, 9).started_range("started", 1, 9).text()});
  ASSERT_EQ(trace.ranges.size(), 2U);
  EXPECT_EQ(trace.ranges[0].style, RangeStyle::push_pop);
  EXPECT_EQ(trace.ranges[1].style, RangeStyle::start_end);
}

// A program that only ends without kernels is not suspected.
TEST(Merge, SilenceIsToldWhereRangesThatHeldWorkComeAgain) {
  const auto trouble = [](int silent_steps, bool is_killed = false) {
    ProcessFile file("a", 1);
    file.clock(0).recording(0, true);
    if (!is_killed) file.status(R"({"finished":true})");
    for (int i = 0; i < 3; ++i) file.range("step", 10 * i, 10 * i + 8).kernel("k", 10 * i + 1, 10 * i + 2);
    for (int i = 3; i < 3 + silent_steps; ++i) file.range("step", 10 * i, 10 * i + 8);
    for (int i = 0; i < 9; ++i) file.range("on the host", 100 + i, 101 + i);
    const Trace trace = merge_traces({file.text()});
    EXPECT_EQ(trace.processes[0].recorded[0].end == 22 * static_cast<std::int64_t>(kMs), silent_steps > 1);
    return trace.processes[0].device_trouble;
  };
  EXPECT_EQ(trouble(0), "");
  EXPECT_EQ(trouble(1), "");
  EXPECT_THAT(trouble(2), HasSubstr("without kernels"));
  EXPECT_EQ(trouble(2, true), "") << "a killed process lacks its last buffer";
}

TEST(Merge, SilenceBetweenWindowsIsNoTrouble) {
  ProcessFile file("a", 1);
  file.clock(0).status(R"({"finished":true})").recording(0, true);
  for (int i = 0; i < 9; ++i) file.range("step", 10 * i, 10 * i + 8);
  file.kernel("k", 1, 2).recording(9, false);
  const Trace trace = merge_traces({file.text()});
  EXPECT_EQ(trace.processes[0].device_trouble, "");
  EXPECT_EQ(trace.processes[0].recorded[0].end, 9 * static_cast<std::int64_t>(kMs));
}

// Whatever the bytes: no crash, no exception. The sanitizers look on.
TEST(Merge, OfFilesThatWereTamperedWithIsSafe) {
  std::mt19937 random(3);
  const TraceFileText sound = ProcessFile("a", 1, kReal, kReal)
                                  .clock(0)
                                  .range("gen", 1, 2)
                                  .kernel("k", 1, 2)
                                  .copy(2, 3, 10, CopyKind::host_to_device)
                                  .recording(0, true)
                                  .clock(9)
                                  .status(R"({"device":0,"name":"GPU","uuid":"aa"})")
                                  .text();
  for (int round = 0; round < 3000; ++round) {
    // Records changed under a right checksum, and chunks changed on disk.
    RecordBatch batch;
    for (int i = 0; i < 10; ++i) {
      Record record;
      record.kind = static_cast<RecordKind>(random() % 30);
      record.detail = static_cast<std::uint8_t>(random());
      record.device = static_cast<std::uint16_t>(random() % 3);
      record.start = (static_cast<std::uint64_t>(random()) << 32U) | random();
      record.end = random() % 2 == 0 ? record.start + random() : random();
      record.value = random() % 4;
      batch.add(record, random() % 2 == 0 ? "n" : "");
    }
    TraceFileText file = sound;
    file.second += make_chunk(ChunkType::records, 9, batch.seal());
    if (round % 2 == 0) file.second[random() % file.second.size()] = static_cast<char>(random());
    const Trace trace = merge_traces({file, sound});
    EXPECT_FALSE(trace_events(trace, 5).empty());
  }
}

TEST(TraceEvents, AreJsonWithARowForEachThreadAndStream) {
  const Trace trace =
      merge_traces({ProcessFile("a", 1).clock(0).range("g\"en", 0, 4).kernel("k", 1, 2).graph(2, 3).text()});
  const Json json = parse_json(trace_events(trace, 100));
  int spans = 0;
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++spans;
    const auto name = event["name"].get<std::string>();
    if (name == "k") {
      EXPECT_DOUBLE_EQ(event["ts"].get<double>(), 1000);
    }
    if (name == "g\"en") {
      EXPECT_DOUBLE_EQ(event["dur"].get<double>(), 4000);
    }
  }
  EXPECT_EQ(spans, 3);
}

// Microseconds of all events "X", by process and row.
std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> rows_of(const Json& json) {
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> rows;
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double from = event["ts"].get<double>();
    rows[{event["pid"].get<int>(), event["tid"].get<int>()}].emplace_back(from,
                                                                          from + event["dur"].get<double>());
  }
  return rows;
}

// The spans by name, of the pairs "b" and "e".
std::map<std::string, std::pair<double, double>> async_spans_of(const Json& json) {
  std::map<std::string, std::pair<std::string, double>> open;  // by id: name and beginning
  std::map<std::string, std::pair<double, double>> spans;
  for (const Json& event : json["traceEvents"]) {
    const auto phase = event["ph"].get<std::string>();
    if (phase != "b" && phase != "e") continue;
    const auto id = event["id"].get<std::string>(), name = event["name"].get<std::string>();
    if (phase == "b") {
      EXPECT_TRUE(open.try_emplace(id, name, event["ts"].get<double>()).second) << id;
    } else {
      EXPECT_EQ(open.at(id).first, name);
      spans[name] = {open.at(id).second, event["ts"].get<double>()};
    }
  }
  EXPECT_EQ(spans.size(), open.size());
  return spans;
}

void expect_rows_that_nest(const Json& json) {
  for (const auto& [row, spans] : rows_of(json)) {
    for (const auto& a : spans) {
      for (const auto& b : spans) {
        const bool crosses = a.first < b.first && b.first < a.second && a.second < b.second;
        EXPECT_FALSE(crosses) << row.first << '/' << row.second << ": " << a.first << " and " << b.first;
      }
    }
  }
}

TEST(TraceEvents, OnARowNest) {
  const Trace trace = merge_traces({ProcessFile("a", 1)
                                        .clock(0)
                                        .range("outer", 0, 10)
                                        .range("inner", 0, 4)
                                        .range("of another domain", 8, 12)
                                        .range("inside both", 9, 10)
                                        .range("on another thread", 8, 20, 2)
                                        .started_range("gen", 2, 6)
                                        .started_range("train", 5, 9)
                                        .kernel("first", 1, 3)
                                        .kernel("begins early", 2, 5)
                                        .kernel("on another stream", 2, 5, 0, 8)
                                        .text()});
  const Json json = parse_json(trace_events(trace, 100));
  expect_rows_that_nest(json);
  std::size_t on_rows = 0;
  for (const auto& [row, spans] : rows_of(json)) on_rows += spans.size();
  EXPECT_EQ(on_rows, 6U);
  using Spans = std::map<std::string, std::pair<double, double>>;
  EXPECT_EQ(async_spans_of(json), (Spans{{"gen", {2000, 6000}},
                                         {"train", {5000, 9000}},
                                         {"of another domain", {8000, 12000}},
                                         {"begins early", {2000, 5000}}}));
}

// A range whose end is lost ends with its process: later than the one around it.
TEST(TraceEvents, OnARowNestWhereEndsAreLost) {
  const Trace trace = merge_traces(
      {ProcessFile("a", 1).clock(0).range("outer", 0, 10).open_range("lost", 2).range("later", 12, 20).text()});
  const Json json = parse_json(trace_events(trace, 100));
  expect_rows_that_nest(json);
  EXPECT_EQ(async_spans_of(json).at("lost"), (std::pair{2000.0, 20000.0}));
}

TEST(TraceEvents, AreBounded) {
  ProcessFile file("a", 1);
  file.clock(0);
  for (int i = 0; i < 100; ++i) file.kernel("k" + std::to_string(i), i, i + 1);
  const std::string text = trace_events(merge_traces({file.text()}), 10);
  EXPECT_THAT(text, HasSubstr("\"k50\""));
  EXPECT_THAT(text, HasSubstr("\"k59\""));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\"k49\"")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\"k60\"")));
}

}  // namespace
}  // namespace sextant::trace
