#include <cache/file/file_layer.hpp>

#include <new>

#include <fmt/format.h>

namespace tuner::cache {

FileLayer::FileLayer(const char* name, std::size_t room, Open* open)
    : name_(fmt::format("{}-{}", name, fmt::ptr(this))) {  // another copy of tuner in this process has its own
  sqlite3_vfs* const system = sqlite3_vfs_find("unix");
  if (system == nullptr) throw std::bad_alloc();  // SQLite could not start
  vfs_ = *system;
  vfs_.zName = name_.c_str();
  vfs_.pNext = nullptr;
  vfs_.pAppData = system;
  vfs_.szOsFile += static_cast<int>(room);
  vfs_.xOpen = open;
}

FileLayer::Known::Known(FileLayer& layer) : layer_(layer) {
  const std::lock_guard lock(layer_.mutex_);
  if (layer_.users_++ == 0) sqlite3_vfs_register(&layer_.vfs_, 0);
}

FileLayer::Known::~Known() {
  const std::lock_guard lock(layer_.mutex_);
  if (--layer_.users_ == 0) sqlite3_vfs_unregister(&layer_.vfs_);
}

}  // namespace tuner::cache
