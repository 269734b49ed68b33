# Install: the program, every library that sextant_add_library made with its headers, the published facts, the
# JSON Schemas, and a package for find_package(Sextant).
#
# All libraries are static and exported together, so that a project that links one of them also needs the
# libraries that the others stand on (nlohmann_json, Ceres, OpenBLAS, and MPI and CUDA when this build has them);
# SextantConfig.cmake finds them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(sextant_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)

get_property(sextant_libraries GLOBAL PROPERTY SEXTANT_LIBRARIES)
install(
  TARGETS ${sextant_libraries}
  EXPORT SextantTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION include/sextant
  FILE_SET unproven DESTINATION include/sextant)
install(TARGETS sextant_trace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET sextant)
  install(TARGETS sextant RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(sextant_share_dir ${CMAKE_INSTALL_DATADIR}/sextant)
set(sextant_data_dir ${sextant_share_dir}/data)
install(EXPORT SextantTargets NAMESPACE Sextant:: DESTINATION ${sextant_package_dir})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/SextantConfig.cmake.in ${PROJECT_BINARY_DIR}/SextantConfig.cmake
  INSTALL_DESTINATION ${sextant_package_dir}
  PATH_VARS sextant_data_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SextantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SextantConfig.cmake ${PROJECT_BINARY_DIR}/SextantConfigVersion.cmake
        DESTINATION ${sextant_package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION ${sextant_data_dir}
        FILES_MATCHING PATTERN "*.json" PATTERN "*.md")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/schemas/ DESTINATION ${sextant_share_dir}/schemas
        FILES_MATCHING PATTERN "*.json")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sextant)
# Licences of what the reports embed.
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/third_party/vega
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sextant
  FILES_MATCHING
  PATTERN "LICENSE.*"
  PATTERN "BUNDLED_LICENSES.txt")
