# One CMake target a room. Arrows between rooms are the DEPENDS of each call and point only down (tests/layering).

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(tuner_options INTERFACE)
# -Wno-restrict: g++ 12 warns of overlaps that cannot be in inlined std::string code (GCC bug 105651).
target_compile_options(tuner_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<BOOL:${TUNER_WERROR}>:-Werror>)
if(TUNER_UNITY)
  # Most of a file's time is its headers: files that are compiled as one pay for them once. Twenty, and the largest room
  # makes two of them, for two cores.
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 20)
  # The warning exempts the types of the main file, which here is the file that includes the twenty.
  target_compile_options(tuner_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(TUNER_SANITIZE)
  list(JOIN TUNER_SANITIZE "," sanitizers)
  # Undefined behaviour ends the program: what is only printed fails no test.
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  # What the address sanitizer sees by itself, or what takes as long to compile as everything else together; fuzzers
  # have them all.
  if(NOT TUNER_FUZZ)
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size,pointer-overflow)
  endif()
  add_link_options(-fsanitize=${sanitizers})
endif()

# For rooms that read what was asked and print what came of it: what -O3 makes of that, nobody can feel, and compiling
# takes a third of the time more.
function(tuner_optimise_for_building name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# tuner_add_room(NAME SOURCES … HEADERS … DEPENDS … PRIVATE …)
# HEADERS are relative to the calling folder, are installed, and are each compiled alone
# (target NAME_verify_interface_header_sets). INTERNAL: no part of the installed package.
function(tuner_add_room name)
  cmake_parse_arguments(room "INTERNAL" "" "SOURCES;HEADERS;DEPENDS;PRIVATE" ${ARGN})
  if(room_SOURCES)
    add_library(${name} STATIC ${room_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:tuner_options>)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(tuner::${name} ALIAS ${name})
  target_sources(${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${room_HEADERS})
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  target_include_directories(${name} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} ${scope} ${room_DEPENDS})
  if(room_PRIVATE)
    target_link_libraries(${name} PRIVATE ${room_PRIVATE})
  endif()
  target_compile_features(${name} ${scope} cxx_std_17)
  if(NOT room_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY TUNER_ROOMS ${name})
  endif()
endfunction()

# tuner_add_tests(NAME SOURCES … DEPENDS … LABELS … TIMEOUT seconds PREFIX … ENVIRONMENT …): one GoogleTest program, one CTest test
# each TEST; PREFIX parts two programs that are built from the same tests.
function(tuner_add_tests name)
  cmake_parse_arguments(suite "" "TIMEOUT;PREFIX" "SOURCES;DEPENDS;LABELS;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${suite_SOURCES})
  target_link_libraries(${name} PRIVATE ${suite_DEPENDS} tuner_options GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TUNER_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TUNER_BINARY_DIR="${PROJECT_BINARY_DIR}")
  # Compiled as it stands: what is tested is optimised, and optimising tests takes more time than they do, twice that of
  # everything else under sanitizers.
  target_compile_options(${name} PRIVATE -O0)
  if(TUNER_SANITIZE MATCHES undefined)
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)  # the same: a third of the time
  endif()
  tuner_link_statically(${name})
  if(NOT suite_TIMEOUT)
    set(suite_TIMEOUT 120)
  endif()
  gtest_discover_tests(${name} TEST_LIST ${name}_list TEST_PREFIX "${suite_PREFIX}" DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${suite_TIMEOUT})
  # Several labels do not survive the PROPERTIES above, which is one flat list.
  set(labelling ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(WRITE ${labelling} "foreach(test IN LISTS ${name}_list)
  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${suite_LABELS}\" ENVIRONMENT \"${suite_ENVIRONMENT}\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labelling})
endfunction()

# The programs must run on another distribution: everything but glibc is linked in.
function(tuner_link_statically target)
  if(TUNER_STATIC AND NOT TUNER_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
