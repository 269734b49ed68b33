// What the cost model said of parts that were asked about before, by their places: an open-addressed table of
// word sequences. Lookups allocate nothing.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

namespace sextant {

using Words = std::span<const std::uint64_t>;

// Murmur's finalizer over a running product.
[[nodiscard]] inline std::uint64_t hash_of(Words words) {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL * (words.size() + 1);
  for (const std::uint64_t word : words) {
    h ^= word;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  }
  return h;
}

// Values stay where they are. Keys are compared whole: a collision of hashes costs time only.
template <typename Value>
class Memo {
 public:
  Memo() : slots_(kFirstSize) {}

  [[nodiscard]] const Value* find(Words key, std::uint64_t hash) const {
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.entry == nullptr) return nullptr;
      if (slot.hash == hash && holds(*slot.entry, key)) return &slot.entry->value;
    }
  }

  const Value& insert(Words key, std::uint64_t hash, Value value) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    entries_.push_back({{key.begin(), key.end()}, std::move(value)});
    place({hash, &entries_.back()});
    return entries_.back().value;
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::vector<std::uint64_t> key;
    Value value;
  };
  struct Slot {
    std::uint64_t hash = 0;
    const Entry* entry = nullptr;
  };
  static constexpr std::size_t kFirstSize = 1024;  // a power of two, as every size

  static bool holds(const Entry& entry, Words key) {
    return entry.key.size() == key.size() && std::memcmp(entry.key.data(), key.data(), key.size_bytes()) == 0;
  }
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  void place(Slot slot) {
    std::size_t i = slot.hash & mask();
    while (slots_[i].entry != nullptr) i = (i + 1) & mask();
    slots_[i] = slot;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.entry != nullptr) place(slot);
    }
  }

  std::vector<Slot> slots_;
  std::deque<Entry> entries_;
};

}  // namespace sextant
