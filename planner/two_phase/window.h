// The adaptive window of AReaL-Hex (end of section 4.2.2): response lengths are sampled over delta training
// steps, delta starts at a small number that follows from the staleness and grows until planning no longer
// changes with it.
//
// A window's samples take the place of the workflow's distribution: the model then sees the mean, the spread
// and the longest of what delta steps happened to bring. Our model integrates over the distribution itself,
// which is the window without end that the paper calls computationally infeasible; so windows choose where the
// search begins, and what it returns is judged by the distribution. Fixed lengths need no window.
#pragma once

#include <cstdint>

#include "sextant/workflow.h"

namespace sextant {

// delta of the first window, in training steps: those in which rollouts of one version can be consumed.
[[nodiscard]] int first_window_steps(const Workflow& workflow);

// The workflow with the response lengths of `steps` iterations, sampled: empirical, at most 64 support points,
// each the mean of its samples, the longest kept. The same seed gives the same lengths.
[[nodiscard]] Workflow windowed(const Workflow& workflow, int steps, std::uint64_t seed);

}  // namespace sextant
