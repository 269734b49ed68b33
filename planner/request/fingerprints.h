// A cache of cost model results, keyed by the fingerprint of the parts' devices. Look-ups allocate nothing and
// touch one cache line.
//
// A fingerprint has 128 bits. Two different parts with the same fingerprint would be confused: among a billion
// parts that happens with a probability of 1e-21.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::inline planner {

struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  // not zero for any part

  Fingerprint& operator+=(const Fingerprint& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
  Fingerprint& operator-=(const Fingerprint& other) {
    low -= other.low;
    high -= other.high;
    return *this;
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// Fingerprints of sequences by tabulation (Zobrist 1970): the sum of a random number for each device class at
// each position. The sums of different sequences are independent, and no step waits for the one before it.
class DeviceClassHashes {
 public:
  explicit DeviceClassHashes(std::size_t seats);

  // head: everything else that distinguishes parts.
  [[nodiscard]] Fingerprint of(std::uint64_t head, std::span<const std::uint16_t> seats) const {
    return of_sum(sum(head, seats));
  }

  // The same in two steps, so that a sum can be updated position by position.
  [[nodiscard]] Fingerprint sum(std::uint64_t head, std::span<const std::uint16_t> seats) const {
    Fingerprint sum = print_of(head);
    const std::size_t first = std::min(seats.size(), kRows);
    for (std::size_t p = 0; p < first; ++p) sum += rows_[p * seats_ + seats[p]];
    if (seats.size() > kRows) add_further(seats, sum);
    return sum;
  }
  [[nodiscard]] static Fingerprint of_sum(Fingerprint sum) {
    sum.high |= 1;
    return sum;
  }
  // The contribution of one position to the sum.
  [[nodiscard]] Fingerprint at(std::size_t position, std::uint16_t seat) const {
    if (position < kRows) return rows_[position * seats_ + seat];
    return further(position, seat);
  }

  // Fingerprint of a few words.
  [[nodiscard]] static Fingerprint of_words(std::span<const std::uint64_t> words);
  // Fingerprint of many small numbers, four at a time, for tables that compare the keys they find.
  [[nodiscard]] static Fingerprint of_devices(std::uint64_t head, std::span<const std::uint16_t> devices);

 private:
  static constexpr std::size_t kRows =
      64;  // the positions after them reuse these rows, multiplied by an odd number of their own

  // The mixing function of Steele, Lea and Flood 2014 (SplitMix).
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
  }
  [[nodiscard]] static Fingerprint print_of(std::uint64_t word) {
    return {mixed(word + 0x9e3779b97f4a7c15ULL), mixed(word + 0xd1b54a32d192ed03ULL)};
  }
  [[nodiscard]] Fingerprint further(std::size_t position, std::uint16_t seat) const;
  void add_further(std::span<const std::uint16_t> seats, Fingerprint& sum) const;

  std::size_t seats_;
  std::vector<Fingerprint> rows_;  // by position, then seat
};

// A hash table. Value should be small, because it is copied.
template <typename Value>
class KnownParts {
 public:
  KnownParts() : slots_(kFirstSize) {}

  // Returns null if the part is new. The pointer is valid until the next insert.
  [[nodiscard]] const Value* find(const Fingerprint& print) const {
    for (std::size_t i = print.low & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.print == print) return &slot.value;
      if (slot.print.high == 0) return nullptr;
    }
  }

  void insert(const Fingerprint& print, const Value& value) {
    if (4 * (count_ + 1) > 3 * slots_.size()) grow();
    place({print, value});
    ++count_;
  }

  [[nodiscard]] std::size_t size() const { return count_; }

  void clear() {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    count_ = 0;
  }

 private:
  struct Slot {
    Fingerprint print;
    Value value{};
  };
  static constexpr std::size_t kFirstSize = 256;  // a power of two, like every size

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  void place(const Slot& slot) {
    std::size_t i = slot.print.low & mask();
    while (slots_[i].print.high != 0) i = (i + 1) & mask();
    slots_[i] = slot;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.print.high != 0) place(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace sextant::inline planner
