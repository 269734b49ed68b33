// Declares Json itself, which sextant/json.h only forward-declares.
#pragma once

#include <nlohmann/json.hpp>

#include "sextant/json.h"
