cmake_minimum_required(VERSION 3.25)
# cmake -D TUNE=program -D FILE=kernel.cu -D SIZE=n=100 -D WORK=scratch -P gallery_test.cmake
# Tunes a kernel file on the host backend with a handful of configurations, in a database of its own. Each must give
# what the file's reference gives, on the problem and on the `verify` problems, and there must be a best one.
set(trials 4)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(ENV{TUNER_CACHE_DIR} ${WORK}/cache)
execute_process(COMMAND ${TUNE} --kernel ${FILE} --size ${SIZE} --device host --strategy random --trials ${trials}
                        --json --quiet
                WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result OUTPUT_VARIABLE json ERROR_VARIABLE log)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "tuning ${FILE} failed (${result}):\n${log}")
endif()
string(JSON right GET "${json}" results 0 outcomes ok)
if(NOT right EQUAL trials)
  string(JSON outcomes GET "${json}" results 0 outcomes)
  message(FATAL_ERROR "${FILE}: ${trials} configurations were tried:\n${outcomes}")
endif()
string(JSON verified GET "${json}" results 0 best verified)
if(NOT verified)
  message(FATAL_ERROR "${FILE}: the best configuration was not verified")
endif()
string(JSON best GET "${json}" results 0 best configuration_text)
message(STATUS "${right} configurations of ${FILE} are right; the best of them is ${best}")
