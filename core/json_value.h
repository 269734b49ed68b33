// Json itself, where sextant/json.h names it.
#pragma once

#include <nlohmann/json.hpp>

#include "sextant/json.h"
