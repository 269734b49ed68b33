// What a task's options on a set of devices were found to be, as bytes: tables of other searches for the same
// request, on other threads or in other processes, need not cost them again.
//
// The bytes are for processes of one program on machines of one kind (numbers are as they lie in memory).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/request/candidate.h"
#include "planner/space/option.h"

namespace sextant {

// An option by its shapes, not by their positions in a table.
struct CostedOption {
  Shape shape, even_shape;
  Option option;
};

struct CostedOptions {
  int task = 0;
  std::vector<std::uint16_t> devices;
  std::vector<CostedOption> options;  // fastest first
};

[[nodiscard]] std::string packed(const CostedOptions& costed);

// Throws Error(machine) where the bytes end too soon or go on too long.
[[nodiscard]] CostedOptions unpacked(std::string_view bytes);

// How the searches for one request tell each other.
class OptionExchange {
 public:
  OptionExchange() = default;
  virtual ~OptionExchange() = default;
  OptionExchange(const OptionExchange&) = delete;
  OptionExchange& operator=(const OptionExchange&) = delete;

  // To the others, of what this search has costed; they may never hear of it.
  virtual void offer(const std::string& packed) = 0;
  // What others have offered since the last time.
  [[nodiscard]] virtual std::vector<std::string> taken() = 0;
};

}  // namespace sextant
