cmake_minimum_required(VERSION 3.25)
# cmake -D SOURCE=source folder -D WORK=scratch folder -D CXX=compiler -P subdirectory_test.cmake
# The consumer with tuner as a part of its own project, as add_subdirectory() and FetchContent make it. Builds tuner.
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
must(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/project/consumer -B ${WORK}/build -D TUNER=${SOURCE}
     -D CMAKE_CXX_COMPILER=${CXX})
must(${CMAKE_COMMAND} --build ${WORK}/build --target consumer tune)
set(ENV{TUNER_DEVICE} host)
set(ENV{TUNER_TUNE} never)
set(ENV{TUNER_CACHE_DIR} ${WORK}/cache)
must(${WORK}/build/tuner/bin/tune sumMatrix2D --size nx=70,ny=30 --type float --trials 2 --quiet)
configure_file(${WORK}/cache/wisdom.db ${WORK}/build/tuner/share/tuner/wisdom/host.db COPYONLY)
set(ENV{TUNER_CACHE_DIR} ${WORK}/other)
must(${WORK}/build/consumer)
