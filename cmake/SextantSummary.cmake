# What configure found, and why the rest was not.
message(STATUS "Sextant ${PROJECT_VERSION}")
message(STATUS "  build type  ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
message(STATUS "  sanitizers  ${SEXTANT_SANITIZE}")
message(STATUS "  MPI         ${SEXTANT_HAVE_MPI}: ${SEXTANT_MPI_REASON}")
message(STATUS "  CUDA        ${SEXTANT_HAVE_CUDA}: ${SEXTANT_CUDA_REASON}")
message(STATUS "  OpenBLAS    ${OpenBLAS_VERSION}")
message(STATUS "  Ceres       ${Ceres_VERSION}")
message(STATUS "  tests       ${SEXTANT_TESTS}, benchmarks ${SEXTANT_BENCH}")
