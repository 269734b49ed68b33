# sextant_default_cuda_architectures(out nvcc): what device code is built for when nobody says: A100, H100 and H200, B200
# where the compiler knows it (CUDA 12.8 and later), and intermediate code of the last for whatever comes after. Code of
# 8.0 runs on 8.6 and 8.9 too, that of 10.0 on 10.3. Asked and not derived from a version: "native" breaks configure
# without a GPU, and an architecture that the compiler lacks breaks the build.
function(sextant_default_cuda_architectures out nvcc)
  execute_process(
    COMMAND ${nvcc} --list-gpu-arch
    OUTPUT_VARIABLE known
    ERROR_QUIET
    RESULT_VARIABLE failed)
  if(NOT failed AND known MATCHES "compute_100")
    set(${out} 80-real 90-real 100 PARENT_SCOPE)
  else()
    set(${out} 80-real 90 PARENT_SCOPE)
  endif()
endfunction()
