#pragma once
/// Makes a call of SQLite fail: the N-th reading of a file, or the N-th allocation.

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <tests/support/testing.hpp>

namespace tuner::cache::test {

/// Counts calls while it lives; the \p nth one fails, and those after it until \p many have failed. 0: none.
class NthFails {
 public:
  explicit NthFails(long nth, long many = 1) {
    calls() = 0;
    failing() = nth;
    last() = nth + many - 1;
  }
  ~NthFails() { failing() = 0; }
  NthFails(const NthFails&) = delete;
  NthFails& operator=(const NthFails&) = delete;

  /// Whether that call came.
  static bool happened() { return failing() != 0 && calls() >= failing(); }
  static bool is_now() { return failing() > 0 && ++calls() >= failing() && calls() <= last(); }

 private:
  static long& calls() {
    static thread_local long number = 0;
    return number;
  }
  static long& last() {
    static thread_local long number = 0;
    return number;
  }
  static long& failing() {
    static thread_local long number = 0;
    return number;
  }
};

/// While it lives, NthFails counts the readings of SQLite's files; the failing one gives EIO.
class ReadingFails {
 public:
  ReadingFails() { set(&fail_or_read); }
  ~ReadingFails() { set(nullptr); }  // the system's own again
  ReadingFails(const ReadingFails&) = delete;
  ReadingFails& operator=(const ReadingFails&) = delete;

 private:
  static ssize_t fail_or_read(int file, void* bytes, std::size_t count, off_t offset) {
    if (NthFails::is_now()) return errno = EIO, -1;
    return ::pread(file, bytes, count, offset);
  }
  static void set(ssize_t (*call)(int, void*, std::size_t, off_t)) {
    sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
    for (const char* name : {"pread", "pread64"})
      if (vfs->xGetSystemCall(vfs, name) != nullptr)
        vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(call));
  }
};

/// While it lives, NthFails counts SQLite's allocations. No connection may be open when it begins or ends.
class AllocationFails {
 public:
  AllocationFails() {
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual());
    sqlite3_mem_methods failing = usual();
    failing.xMalloc = [](int size) { return NthFails::is_now() ? nullptr : usual().xMalloc(size); };
    failing.xRealloc = [](void* old, int size) { return NthFails::is_now() ? nullptr : usual().xRealloc(old, size); };
    sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
  }
  ~AllocationFails() {
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_MALLOC, &usual());
  }
  AllocationFails(const AllocationFails&) = delete;
  AllocationFails& operator=(const AllocationFails&) = delete;

 private:
  static sqlite3_mem_methods& usual() {
    static sqlite3_mem_methods methods{};
    return methods;
  }
};

/// While it lives, this process can open only \p left more files at a time.
class FewDescriptors {
 public:
  explicit FewDescriptors(int left) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit few{0, before_.rlim_max};
    for (; left > 0; ++few.rlim_cur)
      if (::fcntl(static_cast<int>(few.rlim_cur), F_GETFD) < 0) --left;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace tuner::cache::test
