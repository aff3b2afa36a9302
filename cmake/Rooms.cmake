# One CMake target for each room. DEPENDS names the rooms below that it uses (tests/project checks the layers).

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(tuner_options INTERFACE)
target_compile_definitions(tuner_options INTERFACE TUNER_OWN_BUILD)  # programs here find the worker beside them
# Warnings are for those who change the code. -Wno-restrict: g++ 12 warns of impossible overlaps in inlined
# std::string code (GCC bug 105651).
if(TUNER_WERROR)
  target_compile_options(tuner_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
endif()
# g++ collects garbage less often: saves 7% of its time, for 200 MB.
target_compile_options(tuner_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=200;--param=ggc-min-heapsize=400000>)
if(TUNER_UNITY)
  # All sources of a room are compiled together, because they share headers and templates.
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
  # g++ exempts types of the main file, which here is the one that includes the sources.
  target_compile_options(tuner_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
if(TUNER_SANITIZE)
  list(JOIN TUNER_SANITIZE "," sanitizers)
  # Undefined behaviour must end the program: a test does not fail because of a message.
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  # Leaves out checks that the address sanitizer also makes, or that take as long to compile as everything else. The
  # preset `fuzz` makes all but `function`: functions of libraries that are opened at run time have types that tuner
  # defines.
  if(TUNER_SANITIZE_LESS)
    add_compile_options(-fno-sanitize=${TUNER_SANITIZE_LESS})
  endif()
  add_link_options(-fsanitize=${sanitizers})
  # Forty test programs that each contain most of tuner: lld links them in a seventh of the time.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld TUNER_LLD)
  if(TUNER_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

# tuner_add_room(NAME SOURCES … DEPENDS … PRIVATE …)
# INTERNAL: not part of the installed library. OPTIMIZE: the level (-O1, -O2) of a room with loops that users wait for.
# Other rooms get -Og, which saves a third of their build time. HOT: more sources, which get -O2 in any room.
# WITH ROOM: the sources are compiled together with those of ROOM, and as these. Small rooms mostly instantiate the same
# templates.
function(tuner_add_room name)
  cmake_parse_arguments(room "INTERNAL" "OPTIMIZE;WITH" "SOURCES;HOT;DEPENDS;PRIVATE" ${ARGN})
  if(NOT room_OPTIMIZE)
    set(room_OPTIMIZE g)
  endif()
  set(scope INTERFACE)
  if(room_WITH)
    add_library(${name} INTERFACE)
    set_target_properties(${name} PROPERTIES TUNER_WITH ${room_WITH})
    list(TRANSFORM room_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
    target_sources(${room_WITH} PRIVATE ${room_SOURCES})
    target_link_libraries(${name} INTERFACE ${room_WITH})
    foreach(below IN LISTS room_DEPENDS room_PRIVATE)
      set(together "")
      if(TARGET ${below})
        get_target_property(together ${below} TUNER_WITH)
      endif()
      if(NOT below STREQUAL room_WITH AND NOT together STREQUAL room_WITH)
        target_link_libraries(${room_WITH} PRIVATE ${below})
      endif()
    endforeach()
    set(room_PRIVATE "")
  elseif(room_SOURCES)
    add_library(${name} STATIC ${room_SOURCES})
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O${room_OPTIMIZE}>)
    set(scope PUBLIC)
    target_link_libraries(${name} PRIVATE tuner_options)
  else()
    add_library(${name} INTERFACE)
  endif()
  if(room_HOT)
    add_library(${name}_hot OBJECT ${room_HOT})
    target_compile_options(${name}_hot PRIVATE $<$<CONFIG:Release>:-O2>)
    target_link_libraries(${name}_hot PRIVATE tuner_options ${room_DEPENDS} ${room_PRIVATE})
    target_include_directories(${name}_hot PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_hot>)
  endif()
  target_include_directories(${name} ${scope} ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} ${scope} ${room_DEPENDS})
  if(room_PRIVATE)
    target_link_libraries(${name} PRIVATE ${room_PRIVATE})
  endif()
  target_compile_features(${name} ${scope} cxx_std_17)
  if(NOT room_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY TUNER_ROOMS ${name})
  endif()
endfunction()

if(TUNER_TESTS)
  add_library(tuner_test_main STATIC ${PROJECT_SOURCE_DIR}/tests/support/test_main.cpp)
  target_link_libraries(tuner_test_main PUBLIC GTest::gmock)
  add_custom_target(unit_tests)   # programs with the label `unit`
  add_custom_target(whole_tests)  # programs with the labels `whole` and `slow`
endif()

# Seconds after which a test is taken to hang. So long that no test that goes on is ended, however busy the machine is.
set(TUNER_TEST_TIMEOUT 1800)

# tuner_add_tests(NAME [WHOLE] SOURCES … DEPENDS … LABELS … SHARDS n ALONE filter… SLOW filter THREADS filter
#                 PREFIX … ENVIRONMENT …)
# One GoogleTest program, whose tests CTest runs in SHARDS processes. Each entry has the label `unit`, or with WHOLE
# `whole`: such tests run whole programs or many kernels, only in the release build. Filters are those of GoogleTest
# (Suite.*:Other.Test):
#   ALONE    each of these filters gets its own process, also under ThreadSanitizer, for tests that need a fresh one
#   SLOW     tests that get an entry with the label `slow`, which sanitizers leave out
#   THREADS  tests that ThreadSanitizer runs besides ALONE; without it, that sanitizer does not build the program
# PREFIX distinguishes the entries of two programs with the same tests.
function(tuner_add_tests name)
  cmake_parse_arguments(suite "WHOLE" "PREFIX;SHARDS;SLOW;THREADS" "SOURCES;DEPENDS;LABELS;ENVIRONMENT;ALONE" ${ARGN})
  set(kind unit)
  if(suite_WHOLE OR "gpu" IN_LIST suite_LABELS)
    set(kind whole)
  endif()
  add_executable(${name} ${suite_SOURCES})
  target_link_libraries(${name} PRIVATE ${suite_DEPENDS} tuner_options tuner_fmt tuner_test_main)
  target_compile_definitions(${name} PRIVATE TUNER_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TUNER_BINARY_DIR="${PROJECT_BINARY_DIR}")
  # Optimising tests takes more time than running them.
  target_compile_options(${name} PRIVATE -O0)
  # For tests that a sanitizer would end, or that it changes.
  target_compile_definitions(${name} PRIVATE $<$<BOOL:${TUNER_SANITIZE}>:TUNER_SANITIZED>
    $<$<IN_LIST:address,${TUNER_SANITIZE}>:TUNER_ASAN> $<$<IN_LIST:thread,${TUNER_SANITIZE}>:TUNER_TSAN>)
  if(TUNER_SANITIZE MATCHES undefined)
    # Saves a third of the time.
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined$<$<CXX_COMPILER_ID:Clang>:,fuzzer-no-link>)
  endif()
  tuner_link_statically(${name})

  set(filter "*")
  if(TUNER_SANITIZE MATCHES thread)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    if(NOT suite_THREADS)
      return()
    endif()
    set(filter "${suite_THREADS}")
  endif()
  add_dependencies(${kind}_tests ${name})
  if(NOT suite_SHARDS)
    set(suite_SHARDS 1)
  endif()
  # tuner_add_entry(NAME FILTER [label | VARIABLE=value]…): one CTest entry; sees the variables of its caller.
  function(tuner_add_entry entry tests)
    set(labels ${suite_LABELS} ${kind})
    set(environment ${suite_ENVIRONMENT})
    foreach(more IN LISTS ARGN)
      if(more MATCHES "=")
        list(APPEND environment ${more})
      else()
        list(APPEND labels ${more})
      endif()
    endforeach()
    add_test(NAME ${suite_PREFIX}${entry} COMMAND ${name} --gtest_filter=${tests})
    set_tests_properties(${suite_PREFIX}${entry} PROPERTIES TIMEOUT ${TUNER_TEST_TIMEOUT} SKIP_RETURN_CODE 77
                         LABELS "${labels}" ENVIRONMENT "${environment}")
  endfunction()
  set(apart "")
  foreach(alone IN LISTS suite_ALONE)
    string(REGEX REPLACE "[.*]+$" "" alone_name ${alone})
    tuner_add_entry(${name}.${alone_name} ${alone})
    string(APPEND apart ":${alone}")
  endforeach()
  if(suite_SLOW)
    if(NOT TUNER_SANITIZE)
      tuner_add_entry(${name}.slow ${suite_SLOW} slow)
      add_dependencies(whole_tests ${name})
    endif()
    if(NOT TUNER_SANITIZE MATCHES thread)
      string(APPEND apart ":${suite_SLOW}")
    endif()
  endif()
  if(apart)
    string(SUBSTRING "${apart}" 1 -1 apart)
    string(FIND "${filter}" "-" excludes)
    if(excludes EQUAL -1)
      string(APPEND filter "-${apart}")
    else()
      string(APPEND filter ":${apart}")
    endif()
  endif()
  if(suite_SHARDS EQUAL 1)
    tuner_add_entry(${name} "${filter}")
  else()
    math(EXPR last "${suite_SHARDS} - 1")
    foreach(shard RANGE ${last})
      tuner_add_entry(${name}.${shard} "${filter}" GTEST_TOTAL_SHARDS=${suite_SHARDS} GTEST_SHARD_INDEX=${shard})
    endforeach()
  endif()
endfunction()

# The programs must run on other distributions: everything except glibc is linked in.
function(tuner_link_statically target)
  if(TUNER_STATIC AND NOT TUNER_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
