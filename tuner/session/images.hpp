#pragma once
/// The cache of compiled images behind the seam that evaluators use (measure/image_store.hpp).

#include <memory>
#include <string>
#include <string_view>

#include <tuner/measure/image_store.hpp>
#include <tuner/session/observer.hpp>

namespace tuner {

/// `images.db` in the user's cache folder; does nothing where there is none.
class ImageCacheAdapter {
 public:
  /// \p observer (may be null) hears warnings, from any thread that uses the store.
  explicit ImageCacheAdapter(Observer* observer);
  ~ImageCacheAdapter();
  /// Functions that share this cache; they may outlive the adapter.
  ImageStore store() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Content address of an image: SHA-256 of everything that decides it, included files too.
std::string image_key(const CompileRequest& request, std::string_view compiler_identity);
/// Whether image_key() knows all that decides the image: false where a macro names an included file, and where one has
/// changed since the request was made.
bool is_addressable(const CompileRequest& request);

}  // namespace tuner
