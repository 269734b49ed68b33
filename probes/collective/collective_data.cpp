#include "probes/collective/collective_data.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sextant::inline probes {
namespace {

// A prime, so that no part or rank has the same numbers as another.
constexpr std::size_t kPeriod = 251;
constexpr std::size_t kPlaceStep = 7;
constexpr std::size_t kRankStep = 13;
constexpr int kMiddle = 125;

float value(int rank, std::size_t index) {
  const std::size_t place =
      (index % kPeriod * kPlaceStep + static_cast<std::size_t>(rank) * kRankStep) % kPeriod;
  return static_cast<float>(static_cast<int>(place) - kMiddle);
}

// The first numbers of a buffer; all others repeat them.
using Period = std::array<float, kPeriod>;

Period period_of(int rank) {
  Period period{};
  for (std::size_t index = 0; index < kPeriod; ++index) period[index] = value(rank, index);
  return period;
}

Period sums(int ranks) {
  Period all{};
  for (std::size_t index = 0; index < kPeriod; ++index) {
    for (int rank = 0; rank < ranks; ++rank) all[index] += value(rank, index);
  }
  return all;
}

// Large buffers are copied and compared in blocks: number by number a gibibyte takes seconds.
constexpr std::size_t kBlockElements = 64 * kPeriod;

void repeat(const Period& period, std::size_t first, std::span<float> out) {
  std::size_t done = std::min(out.size(), kPeriod);
  for (std::size_t at = 0; at < done; ++at) out[at] = period[(first + at) % kPeriod];
  while (done < out.size()) {  // what is there is whole periods
    const std::size_t more = std::min({done, out.size() - done, kBlockElements});
    std::copy_n(out.begin(), more, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += more;
  }
}

std::size_t count_unlike(const Period& period, std::size_t first, std::span<const float> values) {
  std::vector<float> expected(std::min(values.size(), kBlockElements));
  repeat(period, first, expected);
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < values.size(); at += expected.size()) {
    const auto block = values.subspan(at, std::min(expected.size(), values.size() - at));
    if (std::memcmp(block.data(), expected.data(), block.size_bytes()) == 0) continue;
    for (std::size_t in_block = 0; in_block < block.size(); ++in_block) {
      if (block[in_block] != expected[in_block]) ++wrong;
    }
  }
  return wrong;
}

// Calls with each stretch of the buffer that is one rank's part: whose, where in the part, and where in the
// chunk.
template <typename Action>
void for_each_part(const CollectiveShape& shape, std::size_t first, std::size_t elements, Action action) {
  std::size_t length = 0;
  for (std::size_t at = 0; at < elements; at += length) {
    const std::size_t in_part = (first + at) % shape.part_elements;
    length = std::min(shape.part_elements - in_part, elements - at);
    action(static_cast<int>((first + at) / shape.part_elements), in_part, at, length);
  }
}

int before(int rank, int ranks) { return (rank + ranks - 1) % ranks; }

}  // namespace

void fill_input(const CollectiveShape& shape, int rank, std::size_t first, std::span<float> chunk) {
  switch (shape.kind) {
    case CollectiveKind::all_gather:
      std::fill(chunk.begin(), chunk.end(), 0.0F);
      for_each_part(shape, first, chunk.size(),
                    [&](int owner, std::size_t in_part, std::size_t at, auto length) {
                      if (owner == rank) repeat(period_of(rank), in_part, chunk.subspan(at, length));
                    });
      return;
    case CollectiveKind::broadcast:
      if (rank != 0) {
        std::fill(chunk.begin(), chunk.end(), 0.0F);
        return;
      }
      break;
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::send_receive:
      break;
  }
  repeat(period_of(rank), first, chunk);
}

std::size_t count_wrong(const CollectiveShape& shape, int rank, std::size_t first,
                        std::span<const float> chunk) {
  const std::size_t part = shape.part_elements;
  std::size_t wrong = 0;
  switch (shape.kind) {
    case CollectiveKind::all_reduce:
      return count_unlike(sums(shape.ranks), first, chunk);
    case CollectiveKind::broadcast:
      return count_unlike(period_of(0), first, chunk);
    case CollectiveKind::send_receive:
      return count_unlike(period_of(before(rank, shape.ranks)), first, chunk);
    case CollectiveKind::all_gather:
      for_each_part(shape, first, chunk.size(),
                    [&](int owner, std::size_t in_part, std::size_t at, auto length) {
                      wrong += count_unlike(period_of(owner), in_part, chunk.subspan(at, length));
                    });
      break;
    case CollectiveKind::reduce_scatter:
      for_each_part(shape, first, chunk.size(), [&](int owner, std::size_t, std::size_t at, auto length) {
        if (owner == rank) wrong += count_unlike(sums(shape.ranks), first + at, chunk.subspan(at, length));
      });
      break;
    case CollectiveKind::all_to_all:
      for_each_part(shape, first, chunk.size(),
                    [&](int owner, std::size_t in_part, std::size_t at, auto length) {
                      wrong += count_unlike(period_of(owner), static_cast<std::size_t>(rank) * part + in_part,
                                            chunk.subspan(at, length));
                    });
      break;
  }
  return wrong;
}

std::vector<unsigned char> message_pattern(std::size_t max_bytes) {
  const std::size_t whole = max_bytes / kPeriod * kPeriod;
  std::vector<unsigned char> pattern(whole == 0 ? max_bytes : whole);
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    pattern[at] = static_cast<unsigned char>(at % kPeriod + 1);
  }
  return pattern;
}

}  // namespace sextant::inline probes
