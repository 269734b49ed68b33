# Files of probes/cuda, relative to probes/. Whether there is CUDA is chosen here, never in the code.
set(SEXTANT_GPU_HEADERS cuda/gpu_devices.h cuda/gpu_probe.h)
set(SEXTANT_GPU_SOURCES cuda/gpu_probe.cpp)
set(SEXTANT_GPU_LIBRARIES)
if(SEXTANT_HAVE_CUDA)
  list(
    APPEND
    SEXTANT_GPU_SOURCES
    cuda/cublas_library.cpp
    cuda/cublas_lt_library.cpp
    cuda/cuda_devices.cpp
    cuda/cuda_gemm.cpp
    cuda/cuda_memory.cpp
    cuda/cuda_resources.cpp
    cuda/kernels.cu
    cuda/library_search.cpp
    cuda/lt_descriptors.cpp
    cuda/lt_matmul.cpp)
  # Static, and cuBLAS opened at run time: the program starts on machines without either. The driver's library is
  # looked for by the runtime itself.
  set(SEXTANT_GPU_LIBRARIES CUDA::cudart_static)
else()
  list(APPEND SEXTANT_GPU_SOURCES cuda/absent_devices.cpp)
endif()
