# Install: the program, the libraries that a program embeds with the public headers, the published facts, the JSON
# Schemas, and a package for find_package(Sextant), which gives one target, Sextant::sextant.
#
# All libraries are static and exported together, so that a project that links them also needs the libraries that they
# stand on (nlohmann_json, Ceres, and CBC if this build has it); SextantConfig.cmake finds them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(sextant_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)

add_library(sextant_embedded INTERFACE)
target_link_libraries(sextant_embedded INTERFACE sextant_calibrate sextant_planner)
set_target_properties(sextant_embedded PROPERTIES EXPORT_NAME sextant)
get_property(sextant_libraries GLOBAL PROPERTY SEXTANT_LIBRARIES)
install(
  TARGETS ${sextant_libraries} sextant_embedded
  EXPORT SextantTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(TARGETS sextant_trace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT program)
if(TARGET sextant)
  install(TARGETS sextant RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/SextantShellFiles.cmake.in ${PROJECT_BINARY_DIR}/SextantShellFiles.cmake.in
                 @ONLY)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/SextantShellFiles.cmake INPUT ${PROJECT_BINARY_DIR}/SextantShellFiles.cmake.in)
  install(SCRIPT ${PROJECT_BINARY_DIR}/SextantShellFiles.cmake COMPONENT program)
endif()

set(sextant_share_dir ${CMAKE_INSTALL_DATADIR}/sextant)
set(sextant_data_dir ${sextant_share_dir}/data)
install(EXPORT SextantTargets NAMESPACE Sextant:: DESTINATION ${sextant_package_dir} COMPONENT development)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/SextantConfig.cmake.in ${PROJECT_BINARY_DIR}/SextantConfig.cmake
  INSTALL_DESTINATION ${sextant_package_dir}
  PATH_VARS sextant_data_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SextantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SextantConfig.cmake ${PROJECT_BINARY_DIR}/SextantConfigVersion.cmake
        DESTINATION ${sextant_package_dir} COMPONENT development)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION ${sextant_data_dir} COMPONENT program
        FILES_MATCHING PATTERN "*.json" PATTERN "*.md" REGEX "/data/runs$" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/schemas/ DESTINATION ${sextant_share_dir}/schemas COMPONENT program
        FILES_MATCHING PATTERN "*.json")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sextant RENAME copyright
        COMPONENT program)
# Licences of what the reports embed.
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/third_party/vega
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sextant
  COMPONENT program
  FILES_MATCHING
  PATTERN "LICENSE.*"
  PATTERN "BUNDLED_LICENSES.txt")
