cmake_minimum_required(VERSION 3.25)
# cmake -D TUNE=program -D FILE=races.cu -D WORK=scratch -P races_test.cmake
# On the host backend the mistakes of examples/races.cu are wrong, and one of the two right forms is best. The mistake
# with one barrier shows only where threads switch at memory accesses, which the fastest configurations are run with.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(ENV{TUNER_CACHE_DIR} ${WORK}/cache)
execute_process(COMMAND ${TUNE} --kernel ${FILE} --size rows=16 --device host --fix threads=64 --json --quiet
                WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result OUTPUT_VARIABLE json ERROR_VARIABLE log)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "tuning ${FILE} failed (${result}):\n${log}")
endif()
string(JSON outcomes GET "${json}" results 0 outcomes)
string(JSON right GET "${outcomes}" ok)
string(JSON wrong GET "${outcomes}" wrong)
string(JSON best GET "${json}" results 0 best configuration_text)
math(EXPR all "${right} + ${wrong}")
if(NOT all EQUAL 8 OR wrong LESS 5 OR NOT best MATCHES "mistake=none")
  message(FATAL_ERROR "best is ${best}; expected two right and six wrong configurations, or one less:\n${outcomes}")
endif()
