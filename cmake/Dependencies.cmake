# Third-party code: all of it in Debian's and Ubuntu's archives, linked statically so that one file can be copied to
# a GPU machine. The CUDA toolkit is optional at build time (headers only) and loaded at run time.

include(ThirdParty)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)  # the programs only
find_package(Eigen3 3.3 REQUIRED NO_MODULE)  # headers, in one file of tuner/search

find_package(MPI QUIET COMPONENTS CXX)  # for tune-mpi alone
if(MPI_CXX_FOUND)
  # The C interface alone: libraries of the old C++ one are not everywhere where the program shall run.
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

# The driver API's and NVRTC's types come from their headers; nothing of CUDA is linked.
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
