#include "probes/comm/mpi_variables.h"

#include <mpi.h>

#include <array>
#include <string_view>

namespace sextant::inline probes {
namespace {

std::string variable_name(int index) {
  std::array<char, 256> name{}, description{};
  int name_length = static_cast<int>(name.size()), description_length = static_cast<int>(description.size());
  int verbosity = 0, binding = 0, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  const int code = MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &type, &values,
                                       description.data(), &description_length, &binding, &scope);
  return code == MPI_SUCCESS ? name.data() : "";
}

bool is_listed(const std::string& prefix) {
  int count = 0;
  if (MPI_T_cvar_get_num(&count) != MPI_SUCCESS) return false;
  for (int index = 0; index < count; ++index) {
    if (variable_name(index).starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

bool is_open_mpi() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  return std::string_view(version.data()).starts_with("Open MPI");
}

bool has_mpi_variable(const std::string& prefix) {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
  const bool found = is_listed(prefix);
  MPI_T_finalize();
  return found;
}

}  // namespace sextant::inline probes
