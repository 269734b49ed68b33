#include "probes/gpu/proxy/link_sizes.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <vector>

#include "probes/proxy/schedule.h"

namespace sextant::gpu {
namespace {

// A stage's work in the order of its stream: messages to and from neighbours by kind and number.
enum class Kind { forward, backward, tokens };
struct Operation {
  bool is_send;
  Kind kind;
  int other;  // stage
};
using Stream = std::vector<Operation>;

int buffers_of(const LinkSizes& sizes, Kind kind) {
  switch (kind) {
    case Kind::forward:
      return sizes.forward.buffers;
    case Kind::backward:
      return sizes.backward.buffers;
    default:
      return sizes.tokens.buffers;
  }
}

bool receives(const Stream& stream, std::size_t at, Kind kind, int from) {
  return at < stream.size() && !stream[at].is_send && stream[at].kind == kind && stream[at].other == from;
}

// Whether all streams come to their end when a send waits only while all its buffers hold messages that the
// receiver has not come to; without buffers it waits for the receiver to come.
bool comes_to_an_end(const std::vector<Stream>& streams, const std::vector<LinkSizes>& sizes) {
  std::vector<std::size_t> at(streams.size());
  std::map<std::tuple<Kind, int, int>, int> under_way;  // by kind, sender and receiver
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      while (at[s] < streams[s].size()) {
        const Operation& next = streams[s][at[s]];
        const int me = static_cast<int>(s);
        int& waiting = under_way[{next.kind, next.is_send ? me : next.other, next.is_send ? next.other : me}];
        const int buffers = buffers_of(sizes[s], next.kind);
        const auto other = static_cast<std::size_t>(next.other);
        const bool can_send = buffers > 0 ? waiting < buffers
                                          : waiting == 0 && receives(streams[other], at[other], next.kind, me);
        if (next.is_send ? !can_send : waiting == 0) break;
        waiting += next.is_send ? 1 : -1;
        ++at[s];
        moved = true;
      }
    }
  }
  for (std::size_t s = 0; s < streams.size(); ++s) {
    if (at[s] < streams[s].size()) return false;
  }
  return true;
}

Stream training_stream(int stage, int stages, int micro_batches) {
  Stream stream;
  for (const proxy::PipelineStep& step : proxy::one_forward_one_backward(stage, stages, micro_batches)) {
    const bool forward = step.pass == proxy::Pass::forward;
    const Kind kind = forward ? Kind::forward : Kind::backward;
    const int from = forward ? stage - 1 : stage + 1;
    const int to = forward ? stage + 1 : stage - 1;
    if (from >= 0 && from < stages) stream.push_back({false, kind, from});
    if (to >= 0 && to < stages) stream.push_back({true, kind, to});
  }
  return stream;
}

// The stream of device_generation.cpp: all waves' prompts in chunks, then step by step.
Stream generation_stream(int stage, int stages, int chunks, int steps) {
  Stream stream;
  const bool last = stage + 1 == stages;
  const auto pass = [&] {
    if (stage > 0) stream.push_back({false, Kind::forward, stage - 1});
    if (!last) stream.push_back({true, Kind::forward, stage + 1});
  };
  for (int wave = 0; wave < stages; ++wave) {
    for (int chunk = 0; chunk < chunks; ++chunk) pass();
    if (last && steps > 1) stream.push_back({true, Kind::tokens, 0});
  }
  for (int step = 1; step < steps; ++step) {
    for (int wave = 0; wave < stages; ++wave) {
      if (stage == 0) stream.push_back({false, Kind::tokens, stages - 1});
      pass();
      if (last && step + 1 < steps) stream.push_back({true, Kind::tokens, 0});
    }
  }
  return stream;
}

TEST(LinkSizes, NoStageOfTrainingWaitsForEver) {
  for (int stages = 2; stages <= 6; ++stages) {
    for (int micro_batches = 1; micro_batches <= 13; ++micro_batches) {
      std::vector<Stream> streams;
      std::vector<LinkSizes> sizes;
      for (int stage = 0; stage < stages; ++stage) {
        streams.push_back(training_stream(stage, stages, micro_batches));
        sizes.push_back(link_sizes(TaskKind::training, stages,
                                   proxy::micro_batches_in_flight(stage, stages, micro_batches), 1, 0));
      }
      EXPECT_TRUE(comes_to_an_end(streams, sizes)) << stages << " stages, " << micro_batches;
      for (LinkSizes& none : sizes) none.forward.buffers = none.backward.buffers = 0;
      EXPECT_EQ(comes_to_an_end(streams, sizes), micro_batches == 1) << "on the task's own stream";
    }
  }
}

TEST(LinkSizes, NoStageOfGenerationWaitsForEver) {
  for (int stages = 2; stages <= 6; ++stages) {
    for (int chunks = 1; chunks <= 5; ++chunks) {
      std::vector<Stream> streams;
      for (int stage = 0; stage < stages; ++stage) {
        streams.push_back(generation_stream(stage, stages, chunks, 4));
      }
      const LinkSizes sizes = link_sizes(TaskKind::generation, stages, 1, 1, 1);
      EXPECT_TRUE(comes_to_an_end(streams, std::vector<LinkSizes>(streams.size(), sizes)));
    }
  }
}

TEST(LinkSizes, OneStageHasNone) {
  EXPECT_EQ(link_sizes(TaskKind::training, 1, 4, 100, 0).forward.buffers, 0);
  EXPECT_EQ(link_sizes(TaskKind::generation, 1, 1, 100, 4).tokens.buffers, 0);
}

}  // namespace
}  // namespace sextant::gpu
