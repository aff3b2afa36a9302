#pragma once
/// The interface to a cache of compiled images: two functions of the cache's owner. An empty function means: no cache.
/// Called from several threads; must not throw (a broken cache is a miss).

#include <functional>
#include <optional>
#include <string_view>

#include <tuner/backend/backend.hpp>

namespace tuner {

struct ImageStore {
  /// The image of exactly \p request from the compiler with \p identity (Compiler::identity()).
  std::function<std::optional<Image>(const CompileRequest& request, std::string_view identity)> get;
  /// Stores \p image for \p request. After a compile of a batch, \p image has more functions than requested.
  std::function<void(const CompileRequest& request, std::string_view identity, const Image& image)> put;
};

}  // namespace tuner
