#include <tuner/backend/host/shared_arena.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <tuner/backend/host/sanitizer.hpp>
#include <tuner/core/error.hpp>

namespace tuner::host {
namespace {

constexpr unsigned char kCanary = 0xd7;
/// Reserved after the pages, so that an index that is far too large reaches no other memory.
constexpr std::size_t kBeyond = std::size_t{64} << 20;

}  // namespace

SharedArena::SharedArena(std::size_t most)
    : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))), most_((most + page_ - 1) / page_ * page_) {
  void* const base = ::mmap(nullptr, most_ + kBeyond, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory, "host backend: cannot reserve " + std::to_string((most_ + kBeyond) >> 20) +
                                              " MiB for the shared memory of blocks: " + std::strerror(errno));
  base_ = static_cast<char*>(base);
}

SharedArena::~SharedArena() {
  sanitizer::unpoison(base_, most_);
  ::munmap(base_, most_ + kBeyond);
}

void SharedArena::resize(std::size_t bytes) {
  const std::size_t open = std::min(up_to_page(bytes), most_);
  if (open != open_) {
    const bool more = open > open_;
    char* const from = base_ + std::min(open, open_);
    if (::mprotect(from, std::max(open, open_) - std::min(open, open_), more ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
      throw Error(ErrorCode::out_of_memory,
                  std::string("host backend: no room for the shared memory of blocks: ") + std::strerror(errno));
    open_ = open;
  }
  bytes_ = bytes;
  sanitizer::unpoison(base_, open_);
  std::memset(base_ + bytes_, kCanary, open_ - bytes_);
  sanitizer::poison(base_ + bytes_, open_ - bytes_);
}

bool SharedArena::is_intact() {
  const std::size_t count = open_ - bytes_;
  if (sanitizer::kActive || count == 0) return true;  // a sanitizer sees each access
  const char* const canaries = base_ + bytes_;
  if (static_cast<unsigned char>(*canaries) == kCanary && std::memcmp(canaries, canaries + 1, count - 1) == 0)
    return true;
  std::memset(base_ + bytes_, kCanary, count);
  return false;
}

bool SharedArena::is_beyond(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  return at >= base_ + open_ && at < base_ + most_ + kBeyond;
}

}  // namespace tuner::host
