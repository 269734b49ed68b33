// Rows on GPUs whose published rates the hand-worked numbers use, and access to one piece of evidence.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "lab/priors/evidence_of.h"
#include "tests/calibrate/import/facts_fixture.h"

namespace sextant {

// data/gpus.json: 989e12 FLOP/s in 16 bits, 1978e12 in 8; 3.35e12 bytes/s; 450e9 bytes/s and 5.3 us within a
// node, 17 us between nodes.
inline const Gpu& h100() { return published().gpu("H100-SXM-80GB"); }

inline std::vector<PriorEvidence> all_of(const std::vector<PriorEvidence>& all, CoefficientId id) {
  std::vector<PriorEvidence> out;
  for (const PriorEvidence& evidence : all) {
    if (evidence.id == id) out.push_back(evidence);
  }
  return out;
}

// Returns the only piece of evidence about this coefficient.
inline PriorEvidence one_of(const std::vector<PriorEvidence>& all, CoefficientId id) {
  const std::vector<PriorEvidence> found = all_of(all, id);
  EXPECT_EQ(found.size(), 1U) << spec_of(id).name;
  return found.empty() ? PriorEvidence{} : found.front();
}

}  // namespace sextant
