vcpkg_download_distfile(archive
    URLS "@URL@"
    FILENAME "tuner-${VERSION}.tar.gz"
    SHA512 @SHA512@
)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${archive}")

string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "static" static)
set(cuda_headers "")
if("cuda" IN_LIST FEATURES)
    vcpkg_find_cuda(OUT_CUDA_TOOLKIT_ROOT cuda_root)
    set(cuda_headers "-DTUNER_CUDA_INCLUDE=${cuda_root}/include")
else()
    set(cuda_headers "-DTUNER_CUDA_HEADERS=OFF")
endif()
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DTUNER_TESTS=OFF
        -DTUNER_EXAMPLES=OFF
        -DTUNER_STATIC=${static}
        ${cuda_headers}
        -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
        -DCMAKE_DISABLE_FIND_PACKAGE_Doxygen=ON
    MAYBE_UNUSED_VARIABLES
        TUNER_CUDA_INCLUDE
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tuner)
vcpkg_fixup_pkgconfig()

# The program finds its worker and the shipped results in the folder above its own, the library in that of the headers.
file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/tools/tuner")
file(RENAME "${CURRENT_PACKAGES_DIR}/bin" "${CURRENT_PACKAGES_DIR}/tools/tuner/bin")
vcpkg_replace_string("${CURRENT_PACKAGES_DIR}/share/tuner/tuner-config.cmake" "/bin/tune" "/tools/tuner/bin/tune")
foreach(folder IN ITEMS libexec share)
    file(CREATE_LINK "../../${folder}" "${CURRENT_PACKAGES_DIR}/tools/tuner/${folder}" SYMBOLIC)
endforeach()
foreach(folder IN ITEMS bin include libexec share)
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/${folder}")
endforeach()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")  # the licence again
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
