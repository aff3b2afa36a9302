#pragma once
/// A layer of tuner's between SQLite and the system's files (a "VFS", sqlite.org/vfs.html). Private to this room.

#include <cstddef>
#include <mutex>
#include <string>

#include <sqlite3.h>

namespace tuner::cache {

/// Objects are never destroyed: open connections use them, also while the process ends.
class FileLayer {
 public:
  using Open = int(sqlite3_vfs*, const char*, sqlite3_file*, int, int*);

  /// Files are opened by \p open, whose first argument leads to system(). SQLite allocates \p room bytes for an open
  /// file, and those that the system's files need. \p name: also for errors of SQLite.
  FileLayer(const char* name, std::size_t room, Open* open);
  FileLayer(const FileLayer&) = delete;
  FileLayer& operator=(const FileLayer&) = delete;

  const char* name() const { return name_.c_str(); }
  static sqlite3_vfs* system(sqlite3_vfs* layer) { return static_cast<sqlite3_vfs*>(layer->pAppData); }
  /// For changes before the first use.
  sqlite3_vfs& vfs() { return vfs_; }

  /// While it lives, SQLite finds the layer by its name. SQLite keeps no name longer than it opens files: a library
  /// that is unloaded leaves nothing in a shared SQLite. Nobody waits for another's file.
  class Known {
   public:
    explicit Known(FileLayer& layer);
    ~Known();
    Known(const Known&) = delete;
    Known& operator=(const Known&) = delete;

   private:
    FileLayer& layer_;
  };

 private:
  std::string name_;
  sqlite3_vfs vfs_{};
  std::mutex mutex_;
  int users_ = 0;
};

}  // namespace tuner::cache
