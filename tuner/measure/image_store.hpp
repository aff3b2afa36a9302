#pragma once
/// The seam to a cache of compiled images: two functions, given by whoever owns the cache. An absent function means
/// no cache. Called from several threads; must not throw (a broken cache is a miss).

#include <functional>
#include <optional>
#include <string_view>

#include <tuner/backend/backend.hpp>

namespace tuner {

struct ImageStore {
  /// The image of exactly \p request by the compiler with \p identity (Compiler::identity()).
  std::function<std::optional<Image>(const CompileRequest& request, std::string_view identity)> get;
  /// Keeps \p image for \p request; \p image may hold more functions than requested (a batched compile).
  std::function<void(const CompileRequest& request, std::string_view identity, const Image& image)> put;
};

}  // namespace tuner
