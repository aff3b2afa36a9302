cmake_minimum_required(VERSION 3.25)
# cmake -D BUILD=build folder -D SOURCE=source folder -D WORK=scratch folder -D CXX=compiler -P consumer_test.cmake
# Installs tuner into WORK/prefix, moves it (a package must not depend on where it was installed), builds the consumer
# against it and runs it on the host backend.
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)
must(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/project/consumer -B ${WORK}/build -D CMAKE_PREFIX_PATH=${WORK}/prefix
     -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS=${FLAGS}")
must(${CMAKE_COMMAND} --build ${WORK}/build)
set(ENV{TUNER_CACHE_DIR} ${WORK}/cache)
set(ENV{TUNER_DEVICE} host)
set(ENV{TUNER_TUNE} never)
must(${WORK}/build/consumer)
must(${WORK}/prefix/bin/tune --version)
must(${WORK}/prefix/bin/tune list)
