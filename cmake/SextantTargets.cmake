# Functions that every folder's CMakeLists.txt uses, so that all targets are built alike.

function(sextant_compile_options target)
  target_compile_options(
    ${target}
    PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
      -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual>
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
  if(SEXTANT_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>
                                             "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:SHELL:--Werror all-warnings>")
  endif()
  if(SEXTANT_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SEXTANT_SANITIZE}
                                             -fno-omit-frame-pointer -fno-sanitize-recover=all>)
    target_link_options(${target} PRIVATE -fsanitize=${SEXTANT_SANITIZE})
  endif()
endfunction()

# Standard headers that nearly every source of a library includes, parsed once for the libraries that ask for it. Not
# for those that write much text: where strings are added up, GCC 12 warns wrongly of bounds (-Warray-bounds) inside a
# precompiled std::string. Only standard headers: what is precompiled, no source notices that its own header forgets,
# and for std:: names tests/architecture looks itself. JSON is not among them: loading it costs the many without it
# more than the few gain.
function(sextant_add_library_headers)
  add_library(sextant_library_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/library_headers.cpp)
  target_compile_features(sextant_library_headers PUBLIC cxx_std_20)
  sextant_compile_options(sextant_library_headers)
  target_precompile_headers(sextant_library_headers PRIVATE <algorithm> <array> <cmath> <cstdint> <filesystem>
                            <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
                            <unordered_map> <utility> <vector>)
endfunction()

# Those of `headers` that no source of the same name includes first, and so nothing shows yet that they stand alone.
function(sextant_unproven_headers out headers)
  set(unproven)
  foreach(header ${headers})
    string(REGEX REPLACE "\\.h$" ".cpp" source ${header})
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    set(first)
    if(EXISTS ${source})
      file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
      file(RELATIVE_PATH included ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    endif()
    if(NOT first STREQUAL "#include \"${included}\"")
      list(APPEND unproven ${header})
    endif()
  endforeach()
  set(${out} ${unproven} PARENT_SCOPE)
endfunction()

# sextant_batch(target file.cpp ...) compiles SEXTANT_BATCH_SIZE sources of a target as one, which takes a quarter of the
# time: most of a small source is the headers and templates that the next one needs too. No two sources of a target may
# then give one name to different things, anonymous namespace or not. Files that do so are named and compiled alone.
function(sextant_batch target)
  if(SEXTANT_BATCH_SIZE GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SEXTANT_BATCH_SIZE})
  endif()
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# sextant_folder_files(out "*.cpp" EXCLUDE ^cuda/ ...): the files of the calling folder and of those below it that have
# no CMakeLists.txt of their own, without those whose relative path matches one of the expressions.
function(sextant_folder_files out pattern)
  cmake_parse_arguments(ARG "" "" "EXCLUDE" ${ARGN})
  file(GLOB_RECURSE own CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${pattern})
  file(GLOB_RECURSE lists RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} */CMakeLists.txt)
  foreach(list ${lists})
    get_filename_component(folder ${list} DIRECTORY)
    if(folder)
      list(APPEND ARG_EXCLUDE ^${folder}/)
    endif()
  endforeach()
  foreach(expression ${ARG_EXCLUDE})
    list(FILTER own EXCLUDE REGEX ${expression})
  endforeach()
  set(${out} ${own} PARENT_SCOPE)
endfunction()

# sextant_add_library(core [PRECOMPILED] [INSTALLED] [EXCLUDE ^cuda/ ...] [ALONE run.cpp ...] [PRIVATE_HEADERS ^a.h ...] DEPENDS Sextant::x ... PRIVATE_DEPENDS
# lib ...) makes target sextant_core with alias Sextant::core from all sources and headers of the calling folder (see
# sextant_folder_files). Private headers are those that need a private library.
# Headers are included from the project's root ("include/sextant/error.h").
function(sextant_add_library name)
  cmake_parse_arguments(ARG "PRECOMPILED;INSTALLED" "" "EXCLUDE;ALONE;PRIVATE_HEADERS;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  sextant_folder_files(sources *.cpp EXCLUDE ${ARG_EXCLUDE})
  sextant_folder_files(headers *.h EXCLUDE ${ARG_EXCLUDE} ${ARG_PRIVATE_HEADERS})
  set(target sextant_${name})
  add_library(${target} STATIC ${sources})
  add_library(Sextant::${name} ALIAS ${target})
  sextant_batch(${target} ${ARG_ALONE})
  target_include_directories(
    ${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  sextant_compile_options(${target})
  if(ARG_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM sextant_library_headers)
  endif()
  if(ARG_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY SEXTANT_LIBRARIES ${target})  # for SextantInstall.cmake
  endif()
  # Headers are internal; those for everybody lie in include/sextant. Each must stand alone.
  sextant_unproven_headers(unproven "${headers}")
  if(unproven)
    add_library(${target}_headers INTERFACE)
    target_link_libraries(${target}_headers INTERFACE ${target})
    target_sources(${target}_headers INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${unproven})
    set_target_properties(${target}_headers PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
endfunction()

# sextant_add_optional_part(probes mpi SOURCES a.cpp ... DEPENDS Sextant::x ... LIBRARY MPI::MPI_CXX)
# gives a library sources that alone see the headers of something optional: all others are compiled alike with and
# without it, so that a compiler cache knows them again.
function(sextant_add_optional_part name part)
  cmake_parse_arguments(ARG "" "LIBRARY" "SOURCES;DEPENDS" ${ARGN})
  set(target sextant_${name})
  set(object ${target}_${part})
  add_library(${object} OBJECT ${ARG_SOURCES})
  target_link_libraries(${object} PRIVATE ${ARG_DEPENDS} ${ARG_LIBRARY})
  target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_features(${object} PRIVATE cxx_std_20)
  sextant_compile_options(${object})
  target_precompile_headers(${object} REUSE_FROM sextant_library_headers)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
  target_link_libraries(${target} PRIVATE $<LINK_ONLY:${ARG_LIBRARY}>)
endfunction()

# What nearly every test includes, parsed once. A program, because tests are: libraries are compiled otherwise (PIC).
# Twice, with and without JSON: where it is loaded and not used it costs a third of a second, where it is used and not
# loaded it costs twice that.
function(sextant_add_test_headers)
  foreach(target sextant_test_headers sextant_json_test_headers)
    set(json)
    if(target STREQUAL sextant_json_test_headers)
      set(json <nlohmann/json.hpp>)
    endif()
    add_executable(${target} ${PROJECT_SOURCE_DIR}/cmake/test_headers.cpp)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json GTest::gmock)
    sextant_compile_options(${target})
    target_compile_options(${target} PRIVATE ${SEXTANT_TEST_OPTIMIZATION})
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <filesystem> <functional> <map> <optional>
                              <set> <span> <string> <vector> ${json} <gmock/gmock.h> <gtest/gtest.h>)
  endforeach()
endfunction()

# A test runs once where it is compiled: with -Og that takes a fifth less than with -O1, and that two thirds of -O2. What
# is tested keeps the build type's. GCC 12 warns at -O1 of bounds inside std::string's own assignment from a literal.
set(quick_warnings -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict)
set(quick_options -O1 ${quick_warnings})
set(SEXTANT_TEST_OPTIMIZATION "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-Og;${quick_warnings}>")
# The same for what is not hot, in development builds alone: a release keeps its own.
set(SEXTANT_QUICK_COMPILATION "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:${quick_options}>")

# sextant_add_built_files(cli_test sextant_talkative ...): what these targets make is built before the test, which gets
# its paths by built_file("sextant_talkative") (tests/core/built_files.h).
function(sextant_add_built_files test)
  if(NOT TARGET ${test})
    return()
  endif()
  set(cases)
  foreach(target ${ARGN})
    string(APPEND cases "  if (target == \"${target}\") return \"$<TARGET_FILE:${target}>\";\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${test}_built_files.cpp)
  file(GENERATE OUTPUT ${source} CONTENT "#include \"tests/core/built_files.h\"

std::string sextant::test::built_file([[maybe_unused]] std::string_view target) {
${cases}  return {};
}
")
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${test} PRIVATE ${source})
  if(ARGN)
    add_dependencies(${test} ${ARGN})
  endif()
endfunction()

# sextant_add_test(core_json SOURCES json_test.cpp DEPENDS Sextant::core [LABELS slow] [RANKS 2 3] [TIMEOUT s] [COST s] [PROCESSORS 2] [JSON])
# JSON: most of its sources use JSON itself (core/json_value.h). COST s: about how long its longest test takes, for those
# that had better begin first. PROCESSORS 2: its tests start several busy processes.
# A gtest program, each of its tests a test of ctest. With RANKS the whole program is a test for each number of ranks
# (core_json_2_ranks), run by the MPI launcher. LABELS once: calls no optional part, so it is left out where
# SEXTANT_TESTS is PARTS. Its sources are compiled in batches (sextant_batch); what several of them need
# lies in a header.
function(sextant_add_test name)
  cmake_parse_arguments(ARG "JSON" "TIMEOUT;COST;PROCESSORS" "SOURCES;DEPENDS;LABELS;RANKS" ${ARGN})
  if(SEXTANT_TESTS STREQUAL "PARTS" AND ARG_LABELS MATCHES "once|accuracy")
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set(target ${name}_test)
  add_executable(${target} ${ARG_SOURCES})
  sextant_batch(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${target} PRIVATE SEXTANT_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
                                               SEXTANT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(ARG_RANKS)
    target_link_libraries(${target} PRIVATE ${ARG_DEPENDS} GTest::gmock)
  else()
    target_link_libraries(${target} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gmock_main)
  endif()
  sextant_compile_options(${target})
  target_compile_options(${target} PRIVATE ${SEXTANT_TEST_OPTIMIZATION})
  if(ARG_JSON)
    target_precompile_headers(${target} REUSE_FROM sextant_json_test_headers)
  else()
    target_precompile_headers(${target} REUSE_FROM sextant_test_headers)
  endif()
  if(ARG_RANKS)
    foreach(ranks ${ARG_RANKS})
      set(test ${name}_${ranks}_ranks)
      add_test(NAME ${test} COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe ${MPIEXEC_NUMPROC_FLAG} ${ranks}
                                    $<TARGET_FILE:${target}>)
      set_tests_properties(
        ${test} PROPERTIES LABELS "mpi;${ARG_LABELS}" PROCESSORS ${ranks} TIMEOUT ${ARG_TIMEOUT}
                           ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
    endforeach()
  else()
    set(properties TIMEOUT ${ARG_TIMEOUT})
    if(ARG_COST)
      list(APPEND properties COST ${ARG_COST})
    endif()
    if(ARG_PROCESSORS)
      list(APPEND properties PROCESSORS ${ARG_PROCESSORS})
    endif()
    list(LENGTH ARG_LABELS labels)
    if(labels GREATER 1)
      message(FATAL_ERROR "${name}: gtest_discover_tests keeps only the first of several labels: name one")
    elseif(labels EQUAL 1)
      # An empty value would make "TIMEOUT" the label.
      list(APPEND properties LABELS ${ARG_LABELS})
    endif()
    gtest_discover_tests(
      ${target}
      TEST_PREFIX "${name}."
      NO_PRETTY_VALUES
      DISCOVERY_MODE PRE_TEST
      # Listing takes milliseconds, but right after a build the disk may still be busy writing.
      DISCOVERY_TIMEOUT 120
      PROPERTIES ${properties})
  endif()
endfunction()
