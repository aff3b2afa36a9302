#pragma once
/// Headers of the C and C++ libraries, which NVRTC lacks. Some are texts of this folder with the parts that device code
/// can use. Some include the toolkit's <cuda/std/…> under their usual names. Headers that only host code needs are
/// empty.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/compiler.hpp>

namespace tuner::cuda {

/// A text of headers/, embedded at build time.
struct HeaderFile {
  std::string_view name;  ///< as in `#include <name>`
  std::string_view text;
  std::string_view sha256;  ///< of `text`: hashing all of them takes a third of a first call
};
std::span<const HeaderFile> header_files();

/// Names and texts as nvrtcCreateProgram() takes them.
struct DeviceHeaders {
  std::vector<std::string> names;
  std::vector<std::string> texts;

  void add(std::string name, std::string text) {
    names.push_back(std::move(name));
    texts.push_back(std::move(text));
  }
};

/// All headers. If the kernel's folder or an include folder has a file of the same name, the header gets another name,
/// which toolkit_place() gives. So does curand.h if one of the \p toolkit's include folders has it: curand_kernel.h,
/// for device code, includes it.
DeviceHeaders device_headers(const CompileRequest& request, std::span<const std::filesystem::path> toolkit);

/// How to include the toolkit's header \p name even if the author has a file of that name. It is one of \p headers,
/// which device_headers() made, or a file in one of the \p toolkit's include folders. Empty if there is none.
std::string toolkit_place(const std::string& name, const DeviceHeaders& headers,
                          std::span<const std::filesystem::path> toolkit);

/// The kernel's source and the headers of its author, the source first. Macros of \p request replace the definitions in
/// the headers. Toolkit's headers that are included by an absolute path, or from a file of the same name, have their
/// toolkit_place(). A file that has several names is there once.
std::vector<IncludedFile> own_texts(const CompileRequest& request, std::span<const std::filesystem::path> toolkit,
                                    const DeviceHeaders& headers);

/// Adds the headers of \p texts, which own_texts() made, under their own paths or names that no other file has. Returns
/// the source that includes them so. They are the files that compilers find in the folders of the author, however he
/// names them.
std::string add_own_headers(const CompileRequest& request, const std::vector<IncludedFile>& texts,
                            DeviceHeaders& headers);

/// Changes whenever one of the texts changes.
const std::string& device_headers_version();

}  // namespace tuner::cuda
