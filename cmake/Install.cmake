# The installed package: the library, its public headers, the tune program, the templates and the shipped wisdom.
#   bin/tune  libexec/tuner/tuner-worker  lib/libtuner.a  include/tuner/…
#   share/tuner/{templates,wisdom,examples,docs,scripts}/…
# find_package(tuner), pkg-config and add_subdirectory() (FetchContent) give the same library: static, or shared with
# BUILD_SHARED_LIBS.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tuner)  # cmake/Package.cmake makes a Debian package of each component

get_property(rooms GLOBAL PROPERTY TUNER_ROOMS)
set(objects)
foreach(room IN LISTS rooms)
  get_target_property(type ${room} TYPE)
  if(NOT type STREQUAL INTERFACE_LIBRARY)
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
    if(TARGET ${room}_hot)
      list(APPEND objects $<TARGET_OBJECTS:${room}_hot>)
    endif()
  endif()
endforeach()
# A shared library exports the namespace TUNER_ABI of the public headers, the functions of tuner.h, and nothing else.
file(STRINGS ${PROJECT_SOURCE_DIR}/include/tuner/version.hpp abi REGEX "define TUNER_ABI")
string(REGEX MATCH "v[0-9]+_[0-9]+" abi "${abi}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/exports.map CONTENT
  "{ global: tuner_*; extern \"C++\" { tuner::${abi}::*; typeinfo*?for?tuner::${abi}::*; vtable?for?tuner::${abi}::*; }; local: *; };\n")
function(tuner_add_library name)
  add_library(${name} ${ARGN} ${objects})
  target_link_libraries(${name} PRIVATE tuner_third_party)
  target_link_options(${name} PRIVATE LINKER:--version-script=${PROJECT_BINARY_DIR}/exports.map)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()
tuner_add_library(tuner)
add_library(tuner::tuner ALIAS tuner)
if(TUNER_TESTS)
  tuner_add_library(tuner_shared SHARED)  # the tests of the package are of both kinds
  set_target_properties(tuner_shared PROPERTIES OUTPUT_NAME tuner LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/shared)
endif()
file(GLOB public CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/tuner/*.h ${PROJECT_SOURCE_DIR}/include/tuner/*.hpp)
target_sources(tuner PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${public})
target_compile_features(tuner INTERFACE cxx_std_17)
target_compile_definitions(tuner INTERFACE $<BUILD_INTERFACE:TUNER_INSTALLATION_PREFIX="${PROJECT_BINARY_DIR}">)
add_dependencies(tuner tuner-worker)
if(TARGET tuner_wisdom)
  add_dependencies(tuner tuner_wisdom)
endif()
install(TARGETS tuner EXPORT tuner-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libtuner-dev
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT libtuner-dev
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libtuner-dev)
install(EXPORT tuner-targets NAMESPACE tuner:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tuner COMPONENT libtuner-dev)
# A program that links the archive needs what it is made of; the shared library holds that itself.
set(third_party_flags "-lSQLiteCpp -lsqlite3 -lmd -lz -lboost_context -lpthread -ldl -lstdc++ -lm")
if(BUILD_SHARED_LIBS)
  set(third_party_flags)
endif()
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tuner.pc.in ${PROJECT_BINARY_DIR}/tuner.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tuner.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libtuner-dev)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tuner-config.cmake.in ${PROJECT_BINARY_DIR}/tuner-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tuner)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tuner-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tuner-config.cmake ${PROJECT_BINARY_DIR}/tuner-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/ThirdParty.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tuner COMPONENT libtuner-dev)

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
# Laid out as in the repository, so that links between pages and the commands on them hold in share/tuner as well.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATADIR}/tuner
        PATTERN CMakeLists.txt EXCLUDE PATTERN "*.in" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/experiment_page DESTINATION ${CMAKE_INSTALL_DATADIR}/tuner/scripts
        PATTERN __pycache__ EXCLUDE)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/experiments DESTINATION ${CMAKE_INSTALL_DATADIR}/tuner/scripts)
foreach(page IN ITEMS README.md CHANGELOG.md CONTRIBUTING.md cache/README.md tuner/backend/host/README.md)
  get_filename_component(folder ${page} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DATADIR}/tuner/${folder})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Built from the text in cache/wisdom by that folder.
get_property(wisdom GLOBAL PROPERTY TUNER_WISDOM_DATABASES)
if(wisdom)
  # A database that nobody may write to is read without locks (cache/query/store.cpp).
  install(FILES ${wisdom} DESTINATION ${CMAKE_INSTALL_DATADIR}/tuner/wisdom COMPONENT tuner-wisdom
          PERMISSIONS OWNER_READ GROUP_READ WORLD_READ)
endif()

# The reference of the public headers, where Doxygen is installed.
if(PROJECT_IS_TOP_LEVEL)
  find_package(Doxygen QUIET)
endif()
if(PROJECT_IS_TOP_LEVEL AND DOXYGEN_FOUND)
  list(JOIN public " " public_headers)
  configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/docs/Doxyfile @ONLY)
  add_custom_target(docs COMMAND Doxygen::doxygen ${PROJECT_BINARY_DIR}/docs/Doxyfile COMMENT "docs/html/index.html")
endif()
