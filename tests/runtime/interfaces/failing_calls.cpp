#include "failing_calls.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNothing = -1;
std::atomic<int> counted{kNothing};  // a Failing
std::atomic<long> seen{0}, failing{0};

bool must_fail(tuner::testing::Failing what) {
  if (counted.load(std::memory_order_relaxed) != static_cast<int>(what)) return false;
  return ++seen == failing.load(std::memory_order_relaxed);
}

/// Where the loader's code lies. It ends the process if it has no memory for a thread's own variables, so those
/// allocations do not fail. They come outside of dlopen().
std::uintptr_t loader_begin = 0, loader_end = 0;
thread_local int opening = 0;

void find_loader() {
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void*) {
        if (std::strstr(object->dlpi_name, "/ld-") == nullptr) return 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          loader_begin = object->dlpi_addr + part.p_vaddr;
          loader_end = loader_begin + part.p_memsz;
        }
        return 1;
      },
      nullptr);
}

bool no_memory(const void* caller) {
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  if (opening == 0 && at >= loader_begin && at < loader_end) return false;
  if (!must_fail(tuner::testing::Failing::allocations)) return false;
  errno = ENOMEM;
  return true;
}

bool refused(int error) {
  if (!must_fail(tuner::testing::Failing::calls)) return false;
  errno = error;
  return true;
}

/// The C library's own function.
template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace tuner::testing {

void begin_to_fail(Failing what, long nth) {
  find_loader();
  seen = 0;
  failing = nth;
  counted = static_cast<int>(what);
}

long end_to_fail() {
  counted = kNothing;
  return seen;
}

}  // namespace tuner::testing

// The functions that replace those of the C library.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name, cert-dcl50-cpp)
extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);

void* malloc(std::size_t bytes) { return no_memory(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return no_memory(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  return no_memory(__builtin_return_address(0)) ? nullptr : __libc_realloc(old, bytes);
}
void* __libc_memalign(std::size_t, std::size_t);
void* aligned_alloc(std::size_t to, std::size_t bytes) {
  return no_memory(__builtin_return_address(0)) ? nullptr : __libc_memalign(to, bytes);
}

void* dlopen(const char* file, int flags) noexcept {
  static auto* const own = real(&dlopen, "dlopen");
  ++opening;
  void* const opened = own(file, flags);
  --opening;
  return opened;
}

#define TUNER_FAILS(type, name, parameters, arguments, error, failed) \
  type name parameters {                                              \
    static auto* const own = real(&name, #name);                      \
    return refused(error) ? failed : own arguments;                   \
  }

TUNER_FAILS(ssize_t, read, (int file, void* to, std::size_t bytes), (file, to, bytes), EIO, -1)
TUNER_FAILS(ssize_t, pread64, (int file, void* to, std::size_t bytes, off64_t at), (file, to, bytes, at), EIO, -1)
TUNER_FAILS(ssize_t, pread, (int file, void* to, std::size_t bytes, off_t at), (file, to, bytes, at), EIO, -1)
TUNER_FAILS(ssize_t, write, (int file, const void* from, std::size_t bytes), (file, from, bytes), ENOSPC, -1)
TUNER_FAILS(ssize_t, pwrite64, (int file, const void* from, std::size_t bytes, off64_t at), (file, from, bytes, at),
            ENOSPC, -1)
TUNER_FAILS(ssize_t, pwrite, (int file, const void* from, std::size_t bytes, off_t at), (file, from, bytes, at), ENOSPC,
            -1)
TUNER_FAILS(int, fsync, (int file), (file), EIO, -1)
TUNER_FAILS(int, fdatasync, (int file), (file), EIO, -1)
TUNER_FAILS(int, ftruncate64, (int file, off64_t bytes) noexcept, (file, bytes), EIO, -1)
TUNER_FAILS(int, ftruncate, (int file, off_t bytes) noexcept, (file, bytes), EIO, -1)
TUNER_FAILS(int, unlink, (const char* path) noexcept, (path), EIO, -1)
TUNER_FAILS(int, rename, (const char* from, const char* to) noexcept, (from, to), EIO, -1)
TUNER_FAILS(int, mkdir, (const char* path, mode_t mode) noexcept, (path, mode), ENOSPC, -1)
TUNER_FAILS(char*, mkdtemp, (char* path) noexcept, (path), ENOSPC, nullptr)
TUNER_FAILS(int, mkostemp, (char* path, int flags), (path, flags), EMFILE, -1)
TUNER_FAILS(int, memfd_create, (const char* name, unsigned flags) noexcept, (name, flags), EMFILE, -1)
TUNER_FAILS(DIR*, opendir, (const char* path), (path), EMFILE, nullptr)
TUNER_FAILS(dirent*, readdir, (DIR * folder), (folder), EIO, nullptr)
TUNER_FAILS(int, socketpair, (int domain, int type, int protocol, int* ends) noexcept, (domain, type, protocol, ends),
            EMFILE, -1)
TUNER_FAILS(int, poll, (pollfd * files, nfds_t count, int timeout), (files, count, timeout), EINTR, -1)
TUNER_FAILS(int, posix_spawn,
            (pid_t * made, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* how,
             char* const* arguments, char* const* environment),
            (made, path, actions, how, arguments, environment), EAGAIN, EAGAIN)
TUNER_FAILS(int, stat64, (const char* path, struct stat64* to) noexcept, (path, to), EIO, -1)
TUNER_FAILS(int, stat, (const char* path, struct stat* to) noexcept, (path, to), EIO, -1)
TUNER_FAILS(int, lstat64, (const char* path, struct stat64* to) noexcept, (path, to), EIO, -1)
TUNER_FAILS(int, lstat, (const char* path, struct stat* to) noexcept, (path, to), EIO, -1)
TUNER_FAILS(int, fstat64, (int file, struct stat64* to) noexcept, (file, to), EIO, -1)
TUNER_FAILS(int, fstat, (int file, struct stat* to) noexcept, (file, to), EIO, -1)
TUNER_FAILS(int, pipe2, (int* ends, int flags) noexcept, (ends, flags), EMFILE, -1)
TUNER_FAILS(pid_t, fork, () noexcept, (), EAGAIN, -1)
TUNER_FAILS(int, flock, (int file, int operation) noexcept, (file, operation), ENOLCK, -1)
TUNER_FAILS(int, pthread_create,
            (pthread_t * made, const pthread_attr_t* how, void* (*work)(void*), void* with) noexcept,
            (made, how, work, with), EAGAIN, EAGAIN)
TUNER_FAILS(void*, mmap64, (void* at, std::size_t bytes, int protection, int flags, int file, off64_t from) noexcept,
            (at, bytes, protection, flags, file, from), ENOMEM, MAP_FAILED)
TUNER_FAILS(void*, mmap, (void* at, std::size_t bytes, int protection, int flags, int file, off_t from) noexcept,
            (at, bytes, protection, flags, file, from), ENOMEM, MAP_FAILED)
TUNER_FAILS(FILE*, fopen64, (const char* path, const char* mode), (path, mode), EMFILE, nullptr)
TUNER_FAILS(FILE*, fopen, (const char* path, const char* mode), (path, mode), EMFILE, nullptr)

/// fcntl(), whose third argument is a number or a pointer.
#define TUNER_CONTROLS(name)                                \
  int name(int file, int command, ...) {                    \
    static auto* const own = real(&name, #name);            \
    va_list more;                                           \
    va_start(more, command);                                \
    void* const with = va_arg(more, void*);                 \
    va_end(more);                                           \
    return refused(ENOLCK) ? -1 : own(file, command, with); \
  }

TUNER_CONTROLS(fcntl)
TUNER_CONTROLS(fcntl64)

/// The mode of open() and its kin, which is there only with O_CREAT.
#define TUNER_OPENS(name, parameters, ...)                                               \
  int name parameters {                                                                  \
    static auto* const own = real(&name, #name);                                         \
    va_list more;                                                                        \
    va_start(more, flags);                                                               \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                                        \
    return refused(EMFILE) ? -1 : own(__VA_ARGS__, flags, mode);                         \
  }

TUNER_OPENS(open, (const char* path, int flags, ...), path)
TUNER_OPENS(open64, (const char* path, int flags, ...), path)
TUNER_OPENS(openat, (int folder, const char* path, int flags, ...), folder, path)
TUNER_OPENS(openat64, (int folder, const char* path, int flags, ...), folder, path)

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name, cert-dcl50-cpp)
