# cmake -D module=... -D folder=... -P check_architectures.cmake
include(${module})

# A compiler that knows these architectures, and nothing else.
function(make_compiler name)
  set(lines "#!/bin/sh\n[ \"$1\" = --list-gpu-arch ] || exit 1\n")
  foreach(architecture ${ARGN})
    string(APPEND lines "echo compute_${architecture}\n")
  endforeach()
  file(WRITE ${folder}/${name} "${lines}")
  file(CHMOD ${folder}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

function(expect name wanted)
  sextant_default_cuda_architectures(found ${folder}/${name})
  if(NOT found STREQUAL wanted)
    message(SEND_ERROR "${name}: expected ${wanted}, got ${found}")
  endif()
endfunction()

make_compiler(cuda_12_0 50 60 70 75 80 86 89 90)
make_compiler(cuda_12_8 50 60 70 75 80 86 89 90 100 101 120)
make_compiler(cuda_13_0 75 80 86 87 88 89 90 100 110 103 120 121)
expect(cuda_12_0 "80-real;90")
expect(cuda_12_8 "80-real;90-real;100")
expect(cuda_13_0 "80-real;90-real;100")
expect(missing "80-real;90")
