#include "planner/verify/violation.h"

namespace sextant::inline planner {

std::string describe(const Violation& violation) {
  return violation.rule + " at " + violation.where + ": " + violation.message;
}

std::string place_of(const std::string& task, std::size_t replica) {
  return task + ", replica " + std::to_string(replica);
}

std::string place_of(const std::string& task, std::size_t replica, std::size_t stage) {
  return place_of(task, replica) + ", stage " + std::to_string(stage);
}

}  // namespace sextant::inline planner
