// An error that every rank of a job throws: one of them reports it.
#pragma once

#include "sextant/error.h"

namespace sextant::cli {

class ErrorOfAllRanks : public Error {
  using Error::Error;
};

}  // namespace sextant::cli
