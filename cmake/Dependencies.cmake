# Third-party code: all of it in Debian's and Ubuntu's archives, linked statically so that one file can be copied to
# a GPU machine. The CUDA toolkit is optional at build time (headers only) and loaded at run time.

include(ThirdParty)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)  # the programs only
find_package(Eigen3 3.3 REQUIRED NO_MODULE)  # headers, in one file of tuner/search

if(TUNER_TESTS)
  find_package(GTest 1.11 REQUIRED)
  include(GoogleTest)
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
