#pragma once
/// The images of the fastest configurations so far, so that finalists need not be compiled again.

#include <cstddef>
#include <map>
#include <memory>

#include <tuner/backend/backend.hpp>
#include <tuner/core/configuration.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner {

class ImageShelf {
 public:
  explicit ImageShelf(std::size_t capacity = 64) : capacity_(capacity) {}
  /// Keeps \p image if the measurement of \p trial is among the fastest.
  void offer(const Trial& trial, std::shared_ptr<const Image> image);
  /// Null: it was not kept.
  std::shared_ptr<const Image> find(const Configuration& configuration) const;

 private:
  struct Entry {
    double ns = 0;
    std::shared_ptr<const Image> image;
  };
  std::size_t capacity_;
  std::map<Configuration, Entry> entries_;
};

}  // namespace tuner
