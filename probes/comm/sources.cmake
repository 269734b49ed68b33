# Files of probes/comm, relative to probes/. The transport is chosen here, never in the code.
set(SEXTANT_COMM_HEADERS comm/communicator.h comm/lone_rank.h comm/thread_communicator.h)
set(SEXTANT_COMM_SOURCES comm/lone_rank.cpp comm/serial_communicator.cpp comm/thread_communicator.cpp)
if(SEXTANT_HAVE_MPI)
  list(APPEND SEXTANT_COMM_SOURCES comm/mpi_communicator.cpp comm/mpi_communicator.h comm/session_mpi.cpp)
else()
  list(APPEND SEXTANT_COMM_SOURCES comm/session_serial.cpp)
endif()
