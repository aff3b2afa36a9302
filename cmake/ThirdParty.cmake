# The libraries that tuner links; everything else that it is made of is headers. Included by the build and by the
# installed tuner-config.cmake, so that both find the same files. It sets nothing that other packages read.
# TUNER_STATIC: prefer .a over .so.

find_package(Threads REQUIRED)
set(tuner_libraries)
foreach(tuner_library IN ITEMS SQLiteCpp sqlite3 md z boost_context)  # md: SHA-256
  set(tuner_names ${tuner_library})
  if(TUNER_STATIC)
    list(PREPEND tuner_names lib${tuner_library}.a)
  endif()
  find_library(TUNER_LIBRARY_${tuner_library} NAMES ${tuner_names} REQUIRED)
  mark_as_advanced(TUNER_LIBRARY_${tuner_library})
  list(APPEND tuner_libraries ${TUNER_LIBRARY_${tuner_library}})
endforeach()
if(NOT TARGET tuner_third_party)
  add_library(tuner_third_party INTERFACE IMPORTED GLOBAL)
  target_link_libraries(tuner_third_party INTERFACE ${tuner_libraries} Threads::Threads ${CMAKE_DL_LIBS})
  # Debian's archives are not compiled with -fPIC: a shared library can contain them only if it does not export them.
  target_link_options(tuner_third_party INTERFACE LINKER:--exclude-libs,libsqlite3.a:libz.a)
endif()
unset(tuner_libraries)
unset(tuner_library)
unset(tuner_names)
