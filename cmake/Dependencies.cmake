# Third-party code. All of it is in the archives of Debian and Ubuntu, and is linked statically so that one file can be
# copied to a GPU machine. The CUDA toolkit is optional: building needs only its headers, and its libraries are loaded
# at run time.

include(ThirdParty)
set(Boost_USE_STATIC_LIBS ${TUNER_STATIC})
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)  # Boost's own file; CMake 3.30 warns of its FindBoost
endif()
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)  # the programs only
find_package(Eigen3 REQUIRED NO_MODULE)  # headers, in one file of tuner/search; 3.3 or 5, which refuses if asked for 3
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
foreach(header IN ITEMS SQLiteCpp/SQLiteCpp.h sqlite3.h sha2.h zlib.h)
  string(MAKE_C_IDENTIFIER TUNER_INCLUDE_${header} folder)
  find_path(${folder} ${header} REQUIRED)
  mark_as_advanced(${folder})
  target_include_directories(tuner_third_party SYSTEM INTERFACE ${${folder}})
endforeach()
target_link_libraries(tuner_third_party INTERFACE Boost::headers)

# A namespace of its own: a program that links libtuner.a may have another {fmt}.
tuner_add_room(tuner_fmt SOURCES ${PROJECT_SOURCE_DIR}/cmake/fmt.cpp)
target_include_directories(tuner_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(tuner_fmt PUBLIC "FMT_BEGIN_NAMESPACE=namespace fmt { inline namespace for_tuner {" "FMT_END_NAMESPACE=} }")

find_package(MPI QUIET COMPONENTS CXX)  # for tune-mpi alone
if(MPI_CXX_FOUND)
  # Only the C interface: not all target machines have the libraries of the old C++ one.
  set(mpi_libraries ${MPI_CXX_LIBRARIES})
  list(FILTER mpi_libraries EXCLUDE REGEX "mpi_cxx|mpicxx")
  add_library(tuner_mpi_interface INTERFACE IMPORTED GLOBAL)
  target_include_directories(tuner_mpi_interface SYSTEM INTERFACE ${MPI_CXX_INCLUDE_DIRS})
  target_link_libraries(tuner_mpi_interface INTERFACE ${mpi_libraries})
  message(STATUS "tuner: tune-mpi built with ${mpi_libraries}")
else()
  message(STATUS "tuner: no MPI found: tune-mpi is left out (install libopenmpi-dev)")
endif()

if(TUNER_TESTS)
  find_package(GTest 1.11 REQUIRED)
endif()

# The headers define the types of the driver API and NVRTC. Nothing of CUDA is linked.
find_path(TUNER_CUDA_HEADERS cuda.h HINTS ${TUNER_CUDA_INCLUDE} $ENV{CUDA_PATH}/include $ENV{CUDA_HOME}/include
          /usr/local/cuda/include /usr/include)
find_path(TUNER_NVRTC_HEADERS nvrtc.h HINTS ${TUNER_CUDA_HEADERS})
if(TUNER_CUDA_HEADERS AND TUNER_NVRTC_HEADERS)
  set(TUNER_HAS_CUDA ON)
  message(STATUS "tuner: cuda backend built with the headers in ${TUNER_CUDA_HEADERS}")
else()
  set(TUNER_HAS_CUDA OFF)
  message(STATUS "tuner: no cuda.h and nvrtc.h found: the cuda backend is left out (set TUNER_CUDA_INCLUDE to their folder)")
endif()
