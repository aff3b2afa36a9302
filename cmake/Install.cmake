# The installed package: find_package(tuner), the tune program, the templates and the shipped wisdom.
#   bin/tune  libexec/tuner/tuner-worker  lib/…  include/{tuner,cache}/…  share/tuner/{templates,wisdom}/…
include(CMakePackageConfigHelpers)

# A program links tuner::tuner, which needs the rooms; they are exported too.
if(NOT TARGET tuner)
  add_library(tuner INTERFACE)
  add_library(tuner::tuner ALIAS tuner)
  get_property(rooms GLOBAL PROPERTY TUNER_ROOMS)
  target_link_libraries(tuner INTERFACE ${rooms})
endif()

get_property(rooms GLOBAL PROPERTY TUNER_ROOMS)
foreach(room IN LISTS rooms ITEMS tuner)
  get_target_property(sets ${room} HEADER_SETS)
  get_target_property(interface_sets ${room} INTERFACE_HEADER_SETS)
  if(sets OR interface_sets)
    set(headers FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  else()
    set(headers)
  endif()
  install(TARGETS ${room} EXPORT tuner-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${headers})
endforeach()
install(EXPORT tuner-targets NAMESPACE tuner:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tuner)

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
# The folder cache/wisdom builds these from text.
get_property(wisdom GLOBAL PROPERTY TUNER_WISDOM_DATABASES)
if(wisdom)
  install(FILES ${wisdom} DESTINATION ${CMAKE_INSTALL_DATADIR}/tuner/wisdom)
endif()
