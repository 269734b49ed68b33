# Files of probes/cuda, relative to probes/. Whether there is CUDA is chosen here, never in the code.
set(SEXTANT_GPU_HEADERS
    cuda/attention_reference.h
    cuda/attention_shape.h
    cuda/gpu_cluster.h
    cuda/gpu_devices.h
    cuda/gpu_engine.h
    cuda/gpu_measurement.h
    cuda/gpu_points.h
    cuda/gpu_probe.h
    cuda/gpu_self_check.h
    cuda/gpu_sensors.h
    cuda/library_search.h
    cuda/nccl_collectives.h
    cuda/proxy/attention_layout.h
    cuda/proxy/decode_batch.h
    cuda/proxy/memory_budget.h)
# What needs no CUDA is built and tested everywhere.
set(SEXTANT_GPU_SOURCES
    cuda/attention_reference.cpp
    cuda/gpu_cluster.cpp
    cuda/gpu_measurement.cpp
    cuda/gpu_points.cpp
    cuda/gpu_probe.cpp
    cuda/library_search.cpp
    cuda/nvml_fabric.cpp
    cuda/nvml_sensors.cpp
    cuda/proxy/attention_layout.cpp
    cuda/proxy/decode_batch.cpp
    cuda/proxy/memory_budget.cpp)
set(SEXTANT_GPU_LIBRARIES)
if(SEXTANT_HAVE_CUDA)
  list(APPEND SEXTANT_GPU_HEADERS cuda/lt_matmul.h)
  list(
    APPEND
    SEXTANT_GPU_SOURCES
    cuda/cublas_lt_library.cpp
    cuda/cuda_attention.cpp
    cuda/cuda_devices.cpp
    cuda/cuda_gemm.cpp
    cuda/cuda_host.cpp
    cuda/cuda_memory.cpp
    cuda/cuda_peer.cpp
    cuda/cuda_resources.cpp
    cuda/decode_attention.cu
    cuda/kernels.cu
    cuda/lt_descriptors.cpp
    cuda/lt_matmul.cpp
    cuda/memory_kernels.cu
    cuda/nccl_collectives.cpp
    cuda/nccl_library.cpp
    cuda/prefill_attention.cu
    cuda/proxy/attention.cu
    cuda/proxy/decode.cu
    cuda/proxy/decode_graph.cpp
    cuda/proxy/device_generation.cpp
    cuda/proxy/device_head.cpp
    cuda/proxy/device_inference.cpp
    cuda/proxy/device_layer.cpp
    cuda/proxy/device_parameters.cpp
    cuda/proxy/device_task.cpp
    cuda/proxy/device_training.cpp
    cuda/proxy/device_weight_transfer.cpp
    cuda/proxy/elementwise.cu
    cuda/proxy/gpu.cpp
    cuda/proxy/gpu_engine.cpp
    cuda/proxy/head.cu
    cuda/proxy/nccl_gradient_sum.cpp
    cuda/proxy/parameters.cu
    cuda/proxy/self_check.cpp
    cuda/stream_operation.cpp)
  # Static, and cuBLASLt opened at run time: the program starts on machines without either. The driver's library is
  # looked for by the runtime itself.
  set(SEXTANT_GPU_LIBRARIES CUDA::cudart_static)
else()
  list(APPEND SEXTANT_GPU_SOURCES cuda/absent_devices.cpp cuda/absent_engine.cpp cuda/absent_nccl.cpp)
endif()
