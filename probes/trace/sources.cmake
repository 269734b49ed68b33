# Files of probes/trace, relative to probes/, and the library that is loaded into traced programs.
set(SEXTANT_TRACE_HEADERS
    trace/analysis/clocks.h
    trace/analysis/kernel_names.h
    trace/analysis/merger.h
    trace/analysis/phases.h
    trace/analysis/read_process.h
    trace/analysis/split.h
    trace/analysis/summary.h
    trace/analysis/task_ranges.h
    trace/analysis/trace.h
    trace/analysis/trace_events.h
    trace/analysis/trace_run.h
    trace/injection/recording_pace.h
    trace/injection/settings.h
    trace/record/chunk_reader.h
    trace/record/chunk_writer.h
    trace/record/crc32.h
    trace/record/record.h
    trace/traced_command.h)
set(SEXTANT_TRACE_SOURCES
    trace/analysis/clocks.cpp
    trace/analysis/kernel_names.cpp
    trace/analysis/merger.cpp
    trace/analysis/phases.cpp
    trace/analysis/read_process.cpp
    trace/analysis/split.cpp
    trace/analysis/summary.cpp
    trace/analysis/task_ranges.cpp
    trace/analysis/trace.cpp
    trace/analysis/trace_events.cpp
    trace/analysis/trace_run.cpp
    trace/injection/recording_pace.cpp
    trace/injection/settings.cpp
    trace/record/chunk_reader.cpp
    trace/record/chunk_writer.cpp
    trace/record/crc32.cpp
    trace/traced_command.cpp)

# Needs no toolkit: CUPTI is opened at run time, NVTX calls in. Where the headers are found, our declarations of their
# binary interfaces are compared with them.
set(injection_sources
    trace/injection/activity.cpp
    trace/injection/cuda_entry.cpp
    trace/injection/cupti_library.cpp
    trace/injection/cupti_source.cpp
    trace/injection/device_recording.cpp
    trace/injection/nvtx_entry.cpp
    trace/injection/process_facts.cpp
    trace/injection/recorder.cpp
    trace/injection/recording_pace.cpp
    trace/injection/settings.cpp
    trace/injection/trace_file.cpp
    trace/record/chunk_writer.cpp
    trace/record/crc32.cpp)
set(injection_includes)
if(SEXTANT_HAVE_CUDA)
  find_path(SEXTANT_CUPTI_INCLUDE cupti.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
            PATH_SUFFIXES . ../extras/CUPTI/include ../../../extras/CUPTI/include)
  find_path(SEXTANT_NVTX_INCLUDE nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(SEXTANT_CUPTI_INCLUDE SEXTANT_NVTX_INCLUDE)
  if(SEXTANT_CUPTI_INCLUDE AND SEXTANT_NVTX_INCLUDE)
    list(APPEND injection_sources trace/injection/abi_check.cpp)
    set(injection_includes ${CUDAToolkit_INCLUDE_DIRS} ${SEXTANT_CUPTI_INCLUDE} ${SEXTANT_NVTX_INCLUDE})
  endif()
endif()

add_library(sextant_trace MODULE ${injection_sources})
target_compile_features(sextant_trace PRIVATE cxx_std_20)
target_include_directories(sextant_trace PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(sextant_trace SYSTEM PRIVATE ${injection_includes})
# In somebody else's process: nothing of ours is seen but the two entries, nothing of theirs is used, and it stays.
set_target_properties(sextant_trace PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} CXX_VISIBILITY_PRESET hidden
                                               VISIBILITY_INLINES_HIDDEN ON)
target_link_options(sextant_trace PRIVATE LINKER:-z,nodelete LINKER:--exclude-libs,ALL)
if(NOT SEXTANT_SANITIZE)
  target_link_options(sextant_trace PRIVATE -static-libstdc++ -static-libgcc)
endif()
target_link_libraries(sextant_trace PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
sextant_compile_options(sextant_trace)
