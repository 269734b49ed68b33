// The adaptive window of AReaL-Hex (end of section 4.2.2): response lengths are sampled over delta training
// steps. delta starts at a small number that follows from the staleness and grows until the plan no longer
// changes.
//
// A window's samples replace the workflow's distribution, so that the model sees the mean, the spread and the
// maximum of the lengths of delta steps. Our model integrates over the distribution itself, the infinite window
// that the paper calls computationally infeasible. So windows only choose the start of the search, and its
// result is costed with the distribution. Fixed lengths need no window.
#pragma once

#include <cstdint>

#include "sextant/workflow.h"

namespace sextant::inline planner {

// delta of the first window, in training steps: the steps in which rollouts of one version can be consumed.
[[nodiscard]] int first_window_steps(const Workflow& workflow);

// The workflow with sampled response lengths of `steps` iterations: empirical, at most 64 support points, each
// the mean of its samples, with the maximum kept. The same seed gives the same lengths.
[[nodiscard]] Workflow windowed(const Workflow& workflow, int steps, std::uint64_t seed);

}  // namespace sextant::inline planner
