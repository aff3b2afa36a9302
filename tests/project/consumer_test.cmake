cmake_minimum_required(VERSION 3.25)
# cmake -D BUILD=build folder -D SOURCE=source folder -D WORK=scratch folder -D CXX=compiler -P consumer_test.cmake
# Installs tuner into a folder, moves it (a package must not depend on where it was installed), builds the consumer
# against it and runs it and `tune` on the host backend. Then without the package's worker: no other, such as the one in
# the build folder, may be found in its place.
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
     -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Debug)
must(${CMAKE_COMMAND} --build ${WORK}/build)
set(ENV{TUNER_CACHE_DIR} ${WORK}/cache)
set(ENV{TUNER_DEVICE} host)
set(ENV{TUNER_TUNE} never)
must(${WORK}/build/consumer ${WORK}/prefix)
must(${WORK}/prefix/bin/tune --version)
must(${WORK}/prefix/bin/tune list)
must(${WORK}/prefix/bin/tune --kernel sumMatrix2D --size nx=70,ny=30 --trials 2 --quiet)

file(RENAME ${WORK}/prefix/libexec ${WORK}/aside)
foreach(command "${WORK}/build/consumer;${WORK}/prefix"
                "${WORK}/prefix/bin/tune;--kernel;sumMatrix2D;--size;nx=80,ny=30;--trials;2;--quiet")
  execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE message)
  if(result EQUAL 0 OR NOT message MATCHES "tuner-worker is missing")
    message(FATAL_ERROR "${command} found a worker outside of the package: ${message}")
  endif()
  string(FIND "${message}" "${BUILD}/bin" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${command} looks into the build folder: ${message}")
  endif()
endforeach()
file(RENAME ${WORK}/aside ${WORK}/prefix/libexec)
