// The costs of a task's options on a set of devices, as bytes: tables of other searches for the same request,
// on other threads or in other processes, need not compute them again.
//
// The bytes are valid between processes of one program on machines of one kind (numbers in native format).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/request/candidate.h"
#include "planner/space/option.h"

namespace sextant::inline planner {

// An option that refers to its shapes by value, not by their positions in a table.
struct CostedOption {
  Shape shape, even_shape;
  Option option;
};

struct CostedOptions {
  int task = 0;
  double memory_share = 1;  // PlanRequest::memory_share, which their bytes count
  std::vector<std::uint16_t> devices;
  std::vector<CostedOption> options;  // fastest first
};

[[nodiscard]] std::string packed(const CostedOptions& costed);

// Throws Error(machine) if the bytes are too short or too long.
[[nodiscard]] CostedOptions unpacked(std::string_view bytes);

// The communication between searches for one request.
class OptionExchange {
 public:
  OptionExchange() = default;
  virtual ~OptionExchange() = default;
  OptionExchange(const OptionExchange&) = delete;
  OptionExchange& operator=(const OptionExchange&) = delete;

  // Sends the costs of this search's options to the others; delivery is not guaranteed.
  virtual void offer(const std::string& packed) = 0;
  // Returns the messages of others since the last call.
  [[nodiscard]] virtual std::vector<std::string> taken() = 0;
};

}  // namespace sextant::inline planner
