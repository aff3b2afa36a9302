# Target tuner_headers_alone: for each header a source that includes it and nothing else. It is not part of `all`;
# .ci/steps.sh compiles the sources of changed headers.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.hpp
     ${PROJECT_SOURCE_DIR}/tuner/*.hpp ${PROJECT_SOURCE_DIR}/cache/*.hpp)
if(NOT TUNER_HAS_CUDA)
  list(FILTER headers EXCLUDE REGEX "^tuner/backend/cuda/")
endif()
if(NOT MPI_CXX_FOUND)
  list(FILTER headers EXCLUDE REGEX "^tuner/mpi/")
endif()
set(sources)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "^include/" "" name ${header})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers/${header}.cxx CONTENT "#include <${name}>\n")
  list(APPEND sources ${PROJECT_BINARY_DIR}/headers/${header}.cxx)
endforeach()
get_property(rooms GLOBAL PROPERTY TUNER_ROOMS)
add_library(tuner_headers_alone OBJECT EXCLUDE_FROM_ALL ${sources})
target_link_libraries(tuner_headers_alone PRIVATE ${rooms} tuner_options tuner_third_party tuner_fmt
  nlohmann_json::nlohmann_json Boost::program_options Eigen3::Eigen $<TARGET_NAME_IF_EXISTS:tuner_mpi_interface>)
