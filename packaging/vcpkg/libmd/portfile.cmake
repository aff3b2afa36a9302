vcpkg_download_distfile(archive
    URLS "https://archive.hadrons.org/software/libmd/libmd-${VERSION}.tar.xz"
    FILENAME "libmd-${VERSION}.tar.xz"
    SHA512 5d0da3337038e474fae7377bbc646d17214e72dc848a7aadc157f49333ce7b5ac1456e45d13674bd410ea08477c6115fc4282fed6c8e6a0bf63537a418c0df96
)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${archive}")
vcpkg_make_configure(SOURCE_PATH "${SOURCE_PATH}")
vcpkg_make_install()
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/COPYING")
