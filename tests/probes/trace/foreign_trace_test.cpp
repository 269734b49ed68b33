#include "probes/trace/analysis/foreign_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/table_file.h"
#include "probes/trace/analysis/nsys_trace.h"
#include "probes/trace/analysis/summary.h"
#include "sextant/document.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant::trace {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kRepository = SEXTANT_SOURCE_DIR;

TraceSummary summary_of(const std::string& file) {
  const Trace trace = load_foreign_traces(kRepository + "/tests/data/profiles/" + file);
  return summarise(trace, load_table<TaskRanges>(kRepository + "/data/trace/task_ranges.json"),
                   load_table<KernelNames>(kRepository + "/data/trace/kernel_names.json"), 0);
}

// Seconds in the first iteration; the end of the last one is not known.
double busy_s(const TraceSummary& summary, const std::string& task) {
  return summary.split.tasks.at(task).busy_s();
}

constexpr double kExact = 1e-9;

TEST(ForeignTrace, OfPyTorchHasKernelsByTask) {
  const TraceSummary summary = summary_of("torch_trace.json");
  EXPECT_THAT(summary.iteration_s, SizeIs(1));
  EXPECT_THAT(busy_s(summary, "actor_generation"), DoubleNear(18e-3, kExact));
  EXPECT_THAT(busy_s(summary, "old_log_prob"), DoubleNear(14e-3, kExact));
  EXPECT_THAT(busy_s(summary, "actor_training"), DoubleNear(42e-3, kExact));
  EXPECT_EQ(summary.devices.front().name, "NVIDIA H100 80GB HBM3");
  EXPECT_THAT(summary.tasks_s.at("actor_training"), Each(DoubleNear(45e-3, kExact)));
}

TEST(ForeignTrace, OfNsightSystemsHasCommunicationToo) {
  const TraceSummary summary = summary_of("rl.sqlite");
  EXPECT_THAT(busy_s(summary, "actor_generation"), DoubleNear(18e-3, kExact));
  EXPECT_THAT(busy_s(summary, "old_log_prob"), DoubleNear(14e-3, kExact));
  EXPECT_THAT(busy_s(summary, "actor_training"), DoubleNear(42e-3, kExact));
  EXPECT_THAT(summary.split.tasks.at("actor_training").exposed_communication_s, DoubleNear(9e-3, kExact));
}

TEST(ForeignTrace, RefusesAnotherFile) {
  const TemporaryFolder folder;
  write_text_file(folder.path() / "a.json", "{\"events\": []}");
  EXPECT_THAT(refusal_of([&] { (void)load_foreign_traces(folder.path() / "a.json"); }),
              HasSubstr("/traceEvents"));
  write_text_file(folder.path() / "a.sqlite", "SQLite");
  EXPECT_THAT(refusal_of([&] { (void)load_foreign_traces(folder.path() / "a.sqlite"); }),
              HasSubstr("a.sqlite: it is no SQLite database"));
  EXPECT_FALSE(is_foreign_trace(folder.path() / "b"));
  write_text_file(folder.path() / "a.log", "hello");
  EXPECT_THAT(refusal_of([&] { (void)is_foreign_trace(folder.path() / "a.log"); }),
              HasSubstr("a.log: expected a folder of sextant trace, a profile of PyTorch"));
}

// Whatever bytes a database has, reading ends.
TEST(ForeignTrace, SurvivesDamage) {
  const std::string whole = read_text_file(kRepository + "/tests/data/profiles/rl.sqlite");
  for (std::size_t at = 16; at < whole.size(); at += 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5A);
    TraceBuilder builder;
    try {
      add_nsys_trace("a.sqlite", damaged, builder);
      EXPECT_LE(builder.finished().work.size(), 1000U);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::AnyOf(HasSubstr("SQLite"), HasSubstr("no table")));
    }
  }
}

}  // namespace
}  // namespace sextant::trace
