// The input and output of a reader of measured runs: facts about GPUs and models that the source leaves out;
// the runs, and the records that it left out with the reason.
#pragma once

#include <string>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "sextant/run.h"

namespace sextant::inline calibrate {

struct LeftOut {
  std::string record;  // its name in the source
  std::string reason;  // a sentence
};

struct Imported {
  Runs runs;
  std::vector<LeftOut> left_out;
};

}  // namespace sextant::inline calibrate
