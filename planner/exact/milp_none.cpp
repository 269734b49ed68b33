// Built where there is no MILP solver (SEXTANT_CBC).
#include "planner/exact/milp.h"

namespace sextant::inline planner {

std::unique_ptr<MilpSolver> make_milp_solver() { return nullptr; }

}  // namespace sextant::inline planner
