# The libraries that tuner links. Both the build and the installed package's tuner-config.cmake include this file, so
# both find the same ones. TUNER_STATIC: prefer .a to .so.

set(Boost_USE_STATIC_LIBS ${TUNER_STATIC})
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(Threads REQUIRED)

set(tuner_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
if(TUNER_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_library(TUNER_SQLITE3_LIBRARY sqlite3 REQUIRED)
find_library(TUNER_SQLITECPP_LIBRARY SQLiteCpp REQUIRED)
find_path(TUNER_SQLITECPP_INCLUDE SQLiteCpp/SQLiteCpp.h REQUIRED)
find_library(TUNER_MD_LIBRARY md REQUIRED)  # SHA-256
find_path(TUNER_MD_INCLUDE sha2.h REQUIRED)
find_package(ZLIB REQUIRED)
set(CMAKE_FIND_LIBRARY_SUFFIXES ${tuner_suffixes})
unset(tuner_suffixes)
mark_as_advanced(TUNER_SQLITE3_LIBRARY TUNER_SQLITECPP_LIBRARY TUNER_SQLITECPP_INCLUDE TUNER_MD_LIBRARY TUNER_MD_INCLUDE)

if(NOT TARGET tuner_fmt)
  # Debian has no libfmt.a, so programs that are copied to other machines compile it. Others link it, which is faster.
  add_library(tuner_fmt INTERFACE IMPORTED GLOBAL)
  target_link_libraries(tuner_fmt INTERFACE $<IF:$<BOOL:${TUNER_SANITIZE}>,fmt::fmt,fmt::fmt-header-only>)
endif()
if(NOT TARGET tuner_sqlite)
  add_library(tuner_sqlite INTERFACE IMPORTED GLOBAL)
  target_include_directories(tuner_sqlite SYSTEM INTERFACE ${TUNER_SQLITECPP_INCLUDE})
  target_link_libraries(tuner_sqlite INTERFACE ${TUNER_SQLITECPP_LIBRARY} ${TUNER_SQLITE3_LIBRARY} Threads::Threads
                                               ${CMAKE_DL_LIBS})
endif()
if(NOT TARGET tuner_md)
  add_library(tuner_md INTERFACE IMPORTED GLOBAL)
  target_include_directories(tuner_md SYSTEM INTERFACE ${TUNER_MD_INCLUDE})
  target_link_libraries(tuner_md INTERFACE ${TUNER_MD_LIBRARY})
endif()
