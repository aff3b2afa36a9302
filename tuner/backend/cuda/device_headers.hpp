#pragma once
/// Headers of the C and C++ libraries, which NVRTC lacks. Some are texts of this folder with the parts that device code
/// can use. Some include the toolkit's <cuda/std/…> under their usual names. Those that only host code needs are empty.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// A text of headers/, embedded at build time.
struct HeaderFile {
  std::string_view name;  ///< as in `#include <name>`
  std::string_view text;
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

/// All headers, except those for which the kernel's folder or its include folders have a file of the same name, and
/// except curand.h if one of the \p toolkit's include folders has it: curand_kernel.h, for device code, includes it.
DeviceHeaders device_headers(const CompileRequest& request, std::span<const std::filesystem::path> toolkit);

/// Adds the files that \p request includes from its own folders, if they must not be read as they are on the disk:
/// under each name by which they can be included, without their definitions of the request's macros and, with \p
/// without_host_functions, without those (core/host_functions.hpp). Adds them also if the request carries them, as it
/// comes from another host; if two of these files have one name, the first one gets it.
void add_own_headers(const CompileRequest& request, bool without_host_functions, DeviceHeaders& headers);

/// Changes whenever one of the texts changes.
std::string device_headers_version();

}  // namespace tuner::cuda
