#include "planner/space/costed_options.h"

#include <cstring>
#include <type_traits>

#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

template <typename T>
concept Plain = std::is_trivially_copyable_v<T>;

class Writer {
 public:
  template <Plain T>
  void add(const T& value) {
    const auto at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(&bytes_[at], &value, sizeof(T));
  }
  template <Plain T>
  void add(const std::vector<T>& values) {
    add(static_cast<std::uint32_t>(values.size()));
    const auto at = bytes_.size();
    bytes_.resize(at + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(&bytes_[at], values.data(), values.size() * sizeof(T));
  }
  [[nodiscard]] std::string done() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <Plain T>
  void get(T& value) {
    std::memcpy(&value, next(sizeof(T)), sizeof(T));
  }
  template <Plain T>
  void get(std::vector<T>& values) {
    std::uint32_t count = 0;
    get(count);
    const char* from = next(std::size_t{count} * sizeof(T));
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), from, count * sizeof(T));
  }
  void expect_end() const {
    if (!left_.empty()) fail();
  }

 private:
  const char* next(std::size_t bytes) {
    if (left_.size() < bytes) fail();
    const char* at = left_.data();
    left_.remove_prefix(bytes);
    return at;
  }
  [[noreturn]] static void fail() {
    throw_machine_failed("options evaluated by another search arrived incomplete or with additional data");
  }

  std::string_view left_;
};

// One list of members for both packing and unpacking.
template <typename Stream, typename Part>
void pass(Stream& stream, Part& part) {
  if constexpr (requires { stream.get(part); }) {
    stream.get(part);
  } else {
    stream.add(part);
  }
}

template <typename Stream, typename OfShape>
void pass_shape(Stream& stream, OfShape& shape) {
  pass(stream, shape.tensor_parallel);
  pass(stream, shape.micro_batch_sequences);
  pass(stream, shape.decode_batch_sequences);
  pass(stream, shape.recompute);
  pass(stream, shape.execution);
  pass(stream, shape.layers);
  pass(stream, shape.sequences);
  pass(stream, shape.length_ranks);
}

template <typename Stream, typename OfOption>
void pass_option(Stream& stream, OfOption& costed, std::uint8_t& is_even) {
  pass_shape(stream, costed.shape);
  pass(stream, is_even);
  if (is_even == 0) pass_shape(stream, costed.even_shape);
  pass(stream, costed.option.dealing);
  pass(stream, costed.option.order);
  pass(stream, costed.option.value);
  pass(stream, costed.option.weights_apart_s);
  pass(stream, costed.option.weights_together_s);
  pass(stream, costed.option.by_type);
}

}  // namespace

std::string packed(const CostedOptions& costed) {
  Writer writer;
  writer.add(costed.task);
  writer.add(costed.memory_share);
  writer.add(costed.devices);
  writer.add(static_cast<std::uint32_t>(costed.options.size()));
  for (const CostedOption& option : costed.options) {
    std::uint8_t is_even = option.shape == option.even_shape ? 1 : 0;
    pass_option(writer, option, is_even);
  }
  return writer.done();
}

CostedOptions unpacked(std::string_view bytes) {
  Reader reader(bytes);
  CostedOptions costed;
  reader.get(costed.task);
  reader.get(costed.memory_share);
  reader.get(costed.devices);
  std::uint32_t count = 0;
  reader.get(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    CostedOption& option = costed.options.emplace_back();
    std::uint8_t is_even = 0;
    pass_option(reader, option, is_even);
    if (is_even != 0) option.even_shape = option.shape;
  }
  reader.expect_end();
  return costed;
}

}  // namespace sextant::inline planner
