#pragma once
/// The files that the source of a compile request includes.

#include <tuner/backend/compiler.hpp>
#include <tuner/core/cpp/includes.hpp>

namespace tuner {

/// The files that \p request includes: those that it carries, or otherwise those on the disk now.
inline Includes includes_of(const CompileRequest& request) {
  if (!request.carried.empty()) return {request.carried, {}};
  return included_files(request.source, request.file_name, request.include_paths);
}

}  // namespace tuner
