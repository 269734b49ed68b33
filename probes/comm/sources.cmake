# Files of probes/comm, relative to probes/. The transport is chosen here, never in the code.
set(SEXTANT_COMM_HEADERS comm/communicator.h)
set(SEXTANT_COMM_SOURCES comm/serial_communicator.cpp)
if(SEXTANT_HAVE_MPI)
  list(APPEND SEXTANT_COMM_SOURCES comm/mpi_communicator.cpp comm/mpi_communicator.h comm/session_mpi.cpp)
else()
  list(APPEND SEXTANT_COMM_SOURCES comm/session_serial.cpp)
endif()
