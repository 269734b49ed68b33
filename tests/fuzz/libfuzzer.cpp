// The entry of libFuzzer for one target: SEXTANT_FUZZ_TARGET is its name.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sextant::FuzzTarget* target = sextant::find_fuzz_target(SEXTANT_FUZZ_TARGET);
  (void)target->accepts({reinterpret_cast<const char*>(data), size});
  return 0;
}
