cmake_minimum_required(VERSION 3.25)
# cmake -D TUNE=program -D FILE=races.cu -D WORK=scratch -P races_test.cmake
# On the host backend every mistake of examples/races.cu is wrong and both right forms are right, one of them best.
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
if(NOT right EQUAL 2 OR NOT wrong EQUAL 5 OR NOT best MATCHES "mistake=none")
  message(FATAL_ERROR "best is ${best}; expected two right and five wrong configurations:\n${outcomes}")
endif()
