// Json itself, where core/json.h names it.
#pragma once

#include <nlohmann/json.hpp>

#include "core/json.h"
