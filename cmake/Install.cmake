# The installed package: the library, its public headers, the tune program, the templates and the shipped wisdom.
#   bin/tune  libexec/tuner/tuner-worker  lib/libtuner.a  include/tuner/…  share/tuner/{templates,wisdom}/…
# find_package(tuner), pkg-config and add_subdirectory() (FetchContent) give the same library: static, or shared with
# BUILD_SHARED_LIBS.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY TUNER_ROOMS)
set(objects)
foreach(room IN LISTS rooms)
  get_target_property(type ${room} TYPE)
  if(NOT type STREQUAL INTERFACE_LIBRARY)
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
  endif()
endforeach()
add_library(tuner ${objects})
add_library(tuner::tuner ALIAS tuner)
file(GLOB public CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tuner/*.hpp)
target_sources(tuner PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${public} ${PROJECT_SOURCE_DIR}/tuner/core/error.hpp)
target_compile_features(tuner INTERFACE cxx_std_17)
target_compile_definitions(tuner INTERFACE $<BUILD_INTERFACE:TUNER_INSTALLATION_PREFIX="${PROJECT_BINARY_DIR}">)
target_link_libraries(tuner PRIVATE tuner_third_party)
set_target_properties(tuner PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
add_dependencies(tuner tuner-worker)
if(TARGET tuner_wisdom)
  add_dependencies(tuner tuner_wisdom)
endif()
install(TARGETS tuner EXPORT tuner-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tuner-targets NAMESPACE tuner:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tuner)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tuner.pc.in ${PROJECT_BINARY_DIR}/tuner.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tuner.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tuner-config.cmake.in ${PROJECT_BINARY_DIR}/tuner-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tuner)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tuner-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tuner-config.cmake ${PROJECT_BINARY_DIR}/tuner-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/ThirdParty.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tuner)

if(TARGET tune)
  install(TARGETS tune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET tune-mpi)
  install(TARGETS tune-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET tuner-worker)
  install(TARGETS tuner-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tuner)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/templates/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tuner/templates
        FILES_MATCHING PATTERN "*.cu" PATTERN "*.cuh")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Built from the text in cache/wisdom by that folder.
get_property(wisdom GLOBAL PROPERTY TUNER_WISDOM_DATABASES)
if(wisdom)
  install(FILES ${wisdom} DESTINATION ${CMAKE_INSTALL_DATADIR}/tuner/wisdom)
endif()
