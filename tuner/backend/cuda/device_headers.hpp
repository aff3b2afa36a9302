#pragma once
/// What NVRTC reads for headers that it has none of: those of the C and C++ libraries. Some are this folder's own text,
/// with what device code can use; some are those of the toolkit's <cuda/std/…> under their usual names; those that
/// serve host code alone are empty.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// A text of headers/, embedded at build time.
struct HeaderFile {
  std::string_view name;  ///< as `#include` says it
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

/// All but those whose place a file beside the kernel's, or in its folders of headers, takes.
DeviceHeaders device_headers(const CompileRequest& request);

/// The files that \p request includes from its own folders, without their host functions (core/host_functions.hpp), by
/// the names that they can be included by.
void add_without_host_functions(const CompileRequest& request, DeviceHeaders& headers);
/// The same files as they are, also by their names beside one another: NVRTC finds them nowhere else. Where two files
/// have one name, that is the first one's.
void add_carried(const CompileRequest& request, DeviceHeaders& headers);

/// Of all texts: changes where one of them does.
std::string device_headers_version();

}  // namespace tuner::cuda
