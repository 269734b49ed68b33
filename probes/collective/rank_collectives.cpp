#include "probes/collective/rank_collectives.h"

#include <algorithm>

#include "probes/collective/collective_data.h"

namespace sextant::inline probes {
namespace {

constexpr int kRingTag = 9;
constexpr int kRoundTripTag = 10;
constexpr std::byte kLetter{77};

}  // namespace

RankCollectiveRun::RankCollectiveRun(Communicator& ranks, const CollectiveShape& shape, const Clock& clock)
    : ranks_(ranks),
      shape_(shape),
      clock_(clock),
      sent_(shape.elements()),
      received_(shape.buffers() == 2 ? shape.elements() : 0),
      part_(shape.has_parts() ? shape.part_elements : 0) {}

double RankCollectiveRun::run_s(int repeats) {
  const double start_s = clock_.now_s();
  for (int repeat = 0; repeat < repeats; ++repeat) execute();
  return clock_.now_s() - start_s;
}

bool RankCollectiveRun::is_right() {
  fill_input(shape_, ranks_.rank(), 0, sent_);
  execute();
  return count_wrong(shape_, ranks_.rank(), 0, result()) == 0;
}

std::span<float> RankCollectiveRun::own_part() {
  return std::span(sent_).subspan(static_cast<std::size_t>(ranks_.rank()) * shape_.part_elements,
                                  shape_.part_elements);
}

void RankCollectiveRun::execute() {
  switch (shape_.kind) {
    case CollectiveKind::all_reduce:
      return ranks_.all_reduce_sum(std::span<float>(sent_));
    case CollectiveKind::all_gather:
      std::copy_n(own_part().begin(), part_.size(), part_.begin());
      return ranks_.all_gather(std::span<const float>(part_), std::span<float>(sent_));
    case CollectiveKind::reduce_scatter:
      ranks_.reduce_scatter_sum(sent_, part_);
      std::copy(part_.begin(), part_.end(), own_part().begin());
      return;
    case CollectiveKind::broadcast:
      return ranks_.broadcast(std::as_writable_bytes(std::span(sent_)), 0);
    case CollectiveKind::all_to_all:
      return ranks_.all_to_all(sent_, received_);
    case CollectiveKind::send_receive:
      return pass_on();
  }
}

void RankCollectiveRun::pass_on() {
  const int size = ranks_.size();
  ranks_.send_buffered(std::as_bytes(std::span(sent_)), (ranks_.rank() + 1) % size, kRingTag);
  ranks_.receive(std::as_writable_bytes(std::span(received_)), (ranks_.rank() + size - 1) % size, kRingTag);
  ranks_.finish_sends();
}

double RankRoundTrip::run_s(int repeats) {
  const double start_s = clock_.now_s();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    if (ranks_.rank() < peer_) ranks_.send(message_, peer_, kRoundTripTag);
    ranks_.receive(message_, peer_, kRoundTripTag);
    if (ranks_.rank() > peer_) ranks_.send(message_, peer_, kRoundTripTag);
  }
  return clock_.now_s() - start_s;
}

bool RankRoundTrip::is_right() {
  std::fill(message_.begin(), message_.end(), ranks_.rank() < peer_ ? kLetter : std::byte{0});
  static_cast<void>(run_s(1));
  return std::all_of(message_.begin(), message_.end(), [](std::byte byte) { return byte == kLetter; });
}

std::string RankCollectives::description() const { return "the ranks' own transport, host memory, host clock"; }

std::unique_ptr<CollectiveRun> RankCollectives::prepare(const CollectiveShape& shape) {
  return std::make_unique<RankCollectiveRun>(ranks_, shape, clock_);
}

std::unique_ptr<CollectiveRun> RankCollectives::prepare_round_trip(int peer, std::size_t bytes) {
  return std::make_unique<RankRoundTrip>(ranks_, peer, bytes, clock_);
}

}  // namespace sextant::inline probes
