# Files of probes/proxy, relative to probes/.
set(SEXTANT_PROXY_HEADERS
    proxy/attention.h
    proxy/batch.h
    proxy/blas.h
    proxy/blockwise_transfer.h
    proxy/buffer.h
    proxy/checks.h
    proxy/embedding.h
    proxy/engine.h
    proxy/exchange.h
    proxy/generation.h
    proxy/groups.h
    proxy/head.h
    proxy/host_task.h
    proxy/inference.h
    proxy/kernels.h
    proxy/kv_cache.h
    proxy/layer.h
    proxy/link.h
    proxy/parameters.h
    proxy/proxy.h
    proxy/random.h
    proxy/rollout.h
    proxy/rotary.h
    proxy/schedule.h
    proxy/session.h
    proxy/shard.h
    proxy/simplify.h
    proxy/stage.h
    proxy/task_work.h
    proxy/training.h
    proxy/weight_sync.h
    proxy/weight_transfer.h
    proxy/workload.h)
set(SEXTANT_PROXY_SOURCES
    proxy/attention.cpp
    proxy/batch.cpp
    proxy/blas.cpp
    proxy/blockwise_transfer.cpp
    proxy/checks.cpp
    proxy/embedding.cpp
    proxy/exchange.cpp
    proxy/generation.cpp
    proxy/groups.cpp
    proxy/head.cpp
    proxy/host_engine.cpp
    proxy/inference.cpp
    proxy/kernels.cpp
    proxy/kv_cache.cpp
    proxy/layer.cpp
    proxy/layer_backward.cpp
    proxy/layer_forward.cpp
    proxy/link.cpp
    proxy/parameters.cpp
    proxy/proxy.cpp
    proxy/rollout.cpp
    proxy/rotary.cpp
    proxy/schedule.cpp
    proxy/session.cpp
    proxy/shard.cpp
    proxy/simplify.cpp
    proxy/stage.cpp
    proxy/training.cpp
    proxy/weight_sync.cpp
    proxy/workload.cpp)

# The element-wise loops must not outweigh the matrix products: always optimised, vectorised reductions, and
# compiled for several instruction sets where the compiler can choose among them when the program starts.
# Sanitizers instrument that choice before they are ready for it, so they get one version.
set_source_files_properties(proxy/kernels.cpp PROPERTIES COMPILE_OPTIONS "-O3;-fno-math-errno;-fno-trapping-math;-fopenmp-simd"
                                                             SKIP_PRECOMPILE_HEADERS ON)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT SEXTANT_SANITIZE)
  set_source_files_properties(proxy/kernels.cpp PROPERTIES COMPILE_DEFINITIONS SEXTANT_VECTOR_CLONES)
endif()
