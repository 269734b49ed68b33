#include "planner/evaluate/fingerprints.h"

namespace sextant {

SeatPrints::SeatPrints(std::size_t seats) : seats_(seats) {
  rows_.reserve(kRows * seats);
  for (std::uint64_t i = 0; i < kRows * seats; ++i) rows_.push_back(print_of(~i));
}

void SeatPrints::add_further(std::span<const std::uint16_t> seats, Fingerprint& sum) const {
  for (std::size_t p = kRows; p < seats.size(); ++p) {
    const Fingerprint& of_seat = rows_[p % kRows * seats_ + seats[p]];
    const Fingerprint of_block = print_of(p / kRows << 40);
    sum.low += of_seat.low * (of_block.low | 1);
    sum.high += of_seat.high * (of_block.high | 1);
  }
}

Fingerprint SeatPrints::of_words(std::span<const std::uint64_t> words) {
  Fingerprint sum = print_of(words.size());
  for (const std::uint64_t word : words) {
    const Fingerprint of_word = print_of(word ^ sum.low);
    sum.low += of_word.low;
    sum.high = (sum.high ^ of_word.high) * 0x9fb21c651e98df25ULL;
  }
  sum.high |= 1;
  return sum;
}

}  // namespace sextant
