# Installs this build to a fresh prefix, builds the consumer project against it and runs what came out.
# cmake -DBUILD_DIR=... -DWORK_DIR=... -DCONSUMER_DIR=... -DCXX=... -DGENERATOR=... -DVERSION=... -DSOURCE_DIR=...
#   [-DPYTHON=... -DPYTHON_DIR=...] -P check_install.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(output ${output} PARENT_SCOPE)
endfunction()

function(expect text)
  string(FIND "${output}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "expected '${text}', got:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})

foreach(
  file
  bin/sextant
  include/sextant/error.h
  include/sextant/predict.h
  share/sextant/data/gpus.json
  share/sextant/schemas/gpu_facts.schema.json
  share/doc/sextant/copyright
  share/man/man1/sextant-plan.1
  share/bash-completion/completions/sextant)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()

file(GLOB_RECURSE installed_headers ${prefix}/include/*)
list(LENGTH installed_headers count)
if(count GREATER 30)
  message(FATAL_ERROR "${count} headers are installed: at most 30 are public")
endif()

run(${prefix}/bin/sextant --version)
expect("${VERSION}")
run(${prefix}/bin/sextant coefficients tensor_parallel)
expect("prior from: ")

# The Python package, which finds the installed data from where it lies itself.
if(PYTHON)
  run(${CMAKE_COMMAND} -E env --unset=SEXTANT_DATA PYTHONPATH=${prefix}/${PYTHON_DIR} ${PYTHON} -B -c
      "import sextant
here = sextant.predict(gpus='1x8xH100', model='Qwen3-8B', framework='verl', train='fsdp=8', rollout='tp=1')
print(sextant.__file__, here.document['coefficients'], sextant.__version__, here.fits)")
  expect("${prefix}/${PYTHON_DIR}/sextant/__init__.py ${prefix}/share/sextant/data/coefficients/verl.json sextant ${VERSION} True")
endif()

run(
  ${CMAKE_COMMAND}
  -S
  ${CONSUMER_DIR}
  -B
  ${WORK_DIR}/build
  -G
  ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)

# Qwen2.5-0.5B, by hand: 24 layers of 2*896*896 + 2*896*128 + 3*896*4864, and 151936*896 embeddings (tied).
run(${WORK_DIR}/build/consumer)
expect("parameters 493961216")
expect("iteration positive")
expect("planned no slower than by hand")

# The example of docs and README: plans with what was installed.
run(
  ${CMAKE_COMMAND}
  -S
  ${SOURCE_DIR}/examples/embed
  -B
  ${WORK_DIR}/embed
  -G
  ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/embed)
run(${WORK_DIR}/embed/embed ${SOURCE_DIR}/tests/data/cluster.json ${SOURCE_DIR}/tests/data/workflow_ppo.json)
expect("ppo-small-sha-ea: ")
expect("no plan takes less than ")

# The example of a scheduler of one's own: the second job shares the nodes of the first for nothing more.
run(
  ${CMAKE_COMMAND}
  -S
  ${SOURCE_DIR}/examples/coschedule
  -B
  ${WORK_DIR}/coschedule
  -G
  ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/coschedule)
run(${prefix}/bin/sextant coschedule create --state ${WORK_DIR}/placement.json --rollout-pool H20-96GB=1.85
    --training-pool H800=5.28)
foreach(name a b)
  file(WRITE ${WORK_DIR}/${name}.json
       "{\"schema\": \"sextant.job/1.0\", \"name\": \"${name}\", \"rollout_s\": 60, \"training_s\": 40, \"max_slowdown\": 1.5}")
endforeach()
file(WRITE ${WORK_DIR}/orders.txt
     "place ${WORK_DIR}/a.json\nplace ${WORK_DIR}/b.json\nleave a\n")
run(sh -c "${WORK_DIR}/coschedule/scheduler ${WORK_DIR}/placement.json < ${WORK_DIR}/orders.txt")
expect("a.json: a group of its own, adds $57.04 an hour")
expect("b.json: group-1 as it is, adds $0.00 an hour")
expect("$57.04 an hour, no placement costs less than $57.04")
