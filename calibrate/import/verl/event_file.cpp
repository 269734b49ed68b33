#include "calibrate/import/verl/event_file.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

namespace sextant::inline calibrate {
namespace {

template <typename Number>
std::optional<Number> take_bytes(std::string_view& bytes) {
  Number number{};
  if (bytes.size() < sizeof number) return std::nullopt;
  std::memcpy(&number, bytes.data(), sizeof number);  // little-endian, as the machines are that this runs on
  bytes.remove_prefix(sizeof number);
  return number;
}

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

// A field of a message: its number, and its value by the kind of its encoding.
struct ProtoField {
  std::uint64_t number = 0;
  std::uint64_t integer = 0;
  double real = 0;
  std::string_view bytes;
};

// The next field of the message; nullopt at its end, and for an encoding that is not known.
std::optional<ProtoField> take_field(std::string_view& message) {
  const auto key = take_varint(message);
  if (!key) return std::nullopt;
  ProtoField field;
  field.number = *key >> 3;
  switch (*key & 7) {
    case 0: {
      const auto integer = take_varint(message);
      field.integer = integer.value_or(0);
      return integer ? std::optional(field) : std::nullopt;
    }
    case 1: {
      const auto real = take_bytes<double>(message);
      field.real = real.value_or(0);
      return real ? std::optional(field) : std::nullopt;
    }
    case 2: {
      const auto length = take_varint(message);
      if (!length || *length > message.size()) return std::nullopt;
      field.bytes = message.substr(0, *length);
      message.remove_prefix(*length);
      return field;
    }
    case 5: {
      const auto real = take_bytes<float>(message);
      field.real = static_cast<double>(real.value_or(0));
      return real ? std::optional(field) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// A tensor of one float or double: float_val, double_val or tensor_content.
std::optional<double> scalar_of_tensor(std::string_view tensor) {
  constexpr std::uint64_t kFloat = 1, kDouble = 2;
  std::uint64_t type = 0;
  std::string_view content;
  while (const auto field = take_field(tensor)) {
    if (field->number == 1) type = field->integer;
    if (field->number == 4 || field->number == 5 || field->number == 6) content = field->bytes;
    const bool is_unpacked = (field->number == 5 || field->number == 6) && field->bytes.empty();
    if (is_unpacked) return field->real;
  }
  if (type == kFloat && content.size() == sizeof(float)) return take_bytes<float>(content);
  if (type == kDouble && content.size() == sizeof(double)) return take_bytes<double>(content);
  return std::nullopt;
}

void take_value(std::string_view value, Metrics& metrics) {
  std::string tag;
  std::optional<double> number;
  while (const auto field = take_field(value)) {
    if (field->number == 1) tag = field->bytes;
    if (field->number == 2) number = field->real;
    if (field->number == 8) number = scalar_of_tensor(field->bytes);
  }
  if (!tag.empty() && number && std::isfinite(*number)) metrics.set(tag, *number);
}

void take_event(std::string_view event, StepsByNumber& steps) {
  constexpr std::uint64_t kMaxStep = 1'000'000'000;
  std::uint64_t step = 0;
  Metrics metrics;
  while (const auto field = take_field(event)) {
    if (field->number == 2) step = field->integer;
    if (field->number != 5) continue;
    std::string_view summary = field->bytes;
    while (const auto value = take_field(summary)) {
      if (value->number == 1) take_value(value->bytes, metrics);
    }
  }
  if (!metrics.empty() && step <= kMaxStep) steps.add(static_cast<int>(step), metrics);
}

}  // namespace

bool is_event_file(std::string_view bytes) {
  constexpr std::size_t kFirstRecord = 64;
  return bytes.substr(0, kFirstRecord).find("brain.Event:") != std::string_view::npos;
}

VerlLog parse_event_file(std::string_view bytes) {
  StepsByNumber steps;
  while (const auto length = take_bytes<std::uint64_t>(bytes)) {
    constexpr std::size_t kChecksum = 4;
    if (bytes.size() < kChecksum || *length > bytes.size() - kChecksum) break;
    bytes.remove_prefix(kChecksum);
    take_event(bytes.substr(0, *length), steps);
    bytes.remove_prefix(*length);
    bytes.remove_prefix(std::min(kChecksum, bytes.size()));
  }
  VerlLog log;
  steps.finish(log);
  return log;
}

}  // namespace sextant::inline calibrate
