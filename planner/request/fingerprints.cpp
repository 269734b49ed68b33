#include "planner/request/fingerprints.h"

#include <array>
#include <cstring>

namespace sextant::inline planner {

DeviceClassHashes::DeviceClassHashes(std::size_t seats) : seats_(seats) {
  rows_.reserve(kRows * seats);
  for (std::uint64_t i = 0; i < kRows * seats; ++i) rows_.push_back(print_of(~i));
}

Fingerprint DeviceClassHashes::further(std::size_t position, std::uint16_t seat) const {
  const Fingerprint& of_seat = rows_[position % kRows * seats_ + seat];
  const Fingerprint of_block = print_of(position / kRows << 40);
  return {of_seat.low * (of_block.low | 1), of_seat.high * (of_block.high | 1)};
}

void DeviceClassHashes::add_further(std::span<const std::uint16_t> seats, Fingerprint& sum) const {
  for (std::size_t p = kRows; p < seats.size(); ++p) sum += further(p, seats[p]);
}

Fingerprint DeviceClassHashes::of_words(std::span<const std::uint64_t> words) {
  Fingerprint sum = print_of(words.size());
  for (const std::uint64_t word : words) {
    const Fingerprint of_word = print_of(word ^ sum.low);
    sum.low += of_word.low;
    sum.high = (sum.high ^ of_word.high) * 0x9fb21c651e98df25ULL;
  }
  sum.high |= 1;
  return sum;
}

Fingerprint DeviceClassHashes::of_devices(std::uint64_t head, std::span<const std::uint16_t> devices) {
  constexpr std::uint64_t kOdd = 0x9fb21c651e98df25ULL;
  constexpr std::size_t kInWord = 4;
  std::array<std::uint64_t, 2> lanes{head, ~head};
  const auto take = [&](std::size_t first, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, &devices[first], count * sizeof(std::uint16_t));
    std::uint64_t& lane = lanes[first / kInWord % 2];
    lane = (lane ^ word) * kOdd;
    lane ^= lane >> 29;
  };
  std::size_t first = 0;
  for (; first + kInWord <= devices.size(); first += kInWord) take(first, kInWord);
  if (first < devices.size()) take(first, devices.size() - first);
  return {mixed(lanes[0] ^ devices.size()) + lanes[1], mixed(lanes[1]) | 1};
}

}  // namespace sextant::inline planner
