#pragma once
/// cuda::std of the CUDA toolkit, for files that need a part of it that the C++ library here does not have.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/compiler.hpp>
#include <tuner/core/cpp/includes.hpp>

namespace tuner::host {

/// Such a header of shim/ has these words. It includes the toolkit's if `__tuner_toolkit_std` is defined.
inline constexpr std::string_view kOfToolkit = "The host backend has this header only from the CUDA toolkit.";

/// The toolkit's include folders if \p request or a file that it includes uses such a header; else, and if no toolkit
/// is found, nothing.
std::vector<std::string> toolkit_std_folders(const CompileRequest& request, const Includes& includes);

}  // namespace tuner::host
