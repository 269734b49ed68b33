// A number of the scheduler or of a simulation, with the published one.
#pragma once

#include <string>

#include "lab/reproduce/reproduction.h"

namespace sextant::weave {

struct Printed {
  const char* group;
  const char* source;
  const char* unit;
};

// Adds one comparison. facts: what decided our number, for the sentence of a figure that disagrees.
void add_finding(ReproducedExperiment& out, const Printed& printed, const std::string& cell, double ours,
                 double low, double high, const std::string& facts);

}  // namespace sextant::weave
