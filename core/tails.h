// Tails of the normal and of Student's distribution: how unlikely is a deviation this large by chance?
#pragma once

namespace sextant::inline core {

// P(|Z| >= deviations) for a standard normal Z.
[[nodiscard]] double normal_tail(double deviations);

// Returns the deviations whose normal_tail is `tail`, in (0, 1]; 1.960 for 0.05. Uses Newton's method.
[[nodiscard]] double normal_deviations(double tail);

// P(|T| >= t) for Student's T with `degrees` >= 1 degrees of freedom: Abramowitz and Stegun 26.7.3 and 26.7.4,
// exact to rounding (1e-15 absolute); above 200 degrees 26.7.8, at most 2 % too large if it is above 1e-6.
[[nodiscard]] double student_tail(double t, int degrees);

}  // namespace sextant::inline core
