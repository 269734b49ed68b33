// Arrays of floats for numeric code: aligned storage and row-major views.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace sextant::proxy {

// The alignment of a cache line and of the widest vector register.
inline constexpr std::align_val_t kAlignment{64};

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <typename U>
  explicit AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kAlignment); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

// Construction writes every element, so that memory is mapped before anything is timed.
using Buffer = std::vector<float, AlignedAllocator<float>>;

// Row-major view; `stride` is the distance between rows, at least `columns`.
template <typename T>
struct BasicMatrix {
  T* data = nullptr;
  int rows = 0;
  int columns = 0;
  int stride = 0;

  [[nodiscard]] T* row(int i) const { return data + static_cast<std::size_t>(i) * stride; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(rows) * columns; }
  // Returns the elements of a matrix without gaps.
  [[nodiscard]] std::span<T> flat() const { return {data, size()}; }
  [[nodiscard]] BasicMatrix columns_from(int first, int count) const {
    return {data + first, rows, count, stride};
  }
  [[nodiscard]] BasicMatrix rows_from(int first, int count) const {
    return {row(first), count, columns, stride};
  }
  operator BasicMatrix<const T>() const { return {data, rows, columns, stride}; }
};
using Matrix = BasicMatrix<float>;
using ConstMatrix = BasicMatrix<const float>;

[[nodiscard]] inline Matrix as_matrix(std::span<float> storage, int rows, int columns) {
  return {storage.data(), rows, columns, columns};
}
[[nodiscard]] inline ConstMatrix as_matrix(std::span<const float> storage, int rows, int columns) {
  return {storage.data(), rows, columns, columns};
}
[[nodiscard]] inline Matrix as_matrix(Buffer& storage, int rows, int columns) {
  return as_matrix(std::span<float>(storage), rows, columns);
}
[[nodiscard]] inline ConstMatrix as_matrix(const Buffer& storage, int rows, int columns) {
  return as_matrix(std::span<const float>(storage), rows, columns);
}

}  // namespace sextant::proxy
