#include <cache/file/sealed_file.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include <sqlite3.h>

namespace tuner::cache {
namespace {

constexpr std::int64_t kBlock = 4096;
constexpr std::uint64_t kMark = 0x326c6165'73656e75;          // "uneseal2"
constexpr std::int64_t kMarkOfEarlier = 0x6c616573'72656e75;  // "unerseal"; a hash of the whole file is after it

/// The end of the file, after the hashes of the blocks.
struct Seal {
  std::uint64_t mark = kMark;
  std::int64_t bytes = 0;  ///< of the database
  std::uint64_t hash = 0;  ///< of the hashes
};

/// Hashes four words at a time, each in its own lane. A change of one word always changes the hash. \p size: a multiple
/// of 32.
std::uint64_t hash_of(const char* bytes, std::size_t size) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  for (std::size_t at = 0; at < size; at += sizeof lanes) {
    std::uint64_t words[4];
    std::memcpy(words, bytes + at, sizeof words);
    for (int i = 0; i < 4; ++i) lanes[i] = std::rotl(lanes[i] ^ words[i], 29) * odd;
  }
  std::uint64_t all = 0;
  for (const std::uint64_t lane : lanes) all = std::rotl(all ^ lane, 31) * odd;
  return all;
}

std::uint64_t hash_of(std::vector<std::uint64_t> hashes) {
  hashes.resize((hashes.size() + 3) / 4 * 4);
  return hash_of(reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof hashes[0]);
}

std::size_t blocks_in(std::int64_t bytes) { return static_cast<std::size_t>((bytes + kBlock - 1) / kBlock); }
/// The last block of a database with small pages may be shorter.
int size_of_block(std::int64_t block, std::int64_t bytes) {
  return static_cast<int>(std::min(kBlock, bytes - block * kBlock));
}

/// An open file. SQLite allocates it, with room for its own file after it.
struct SealedFile : sqlite3_file {
  std::int64_t bytes = 0;             ///< of the database
  std::vector<std::uint64_t> hashes;  ///< of its blocks; empty: the file has no seal
  bool is_of_earlier = false;         ///< it ends with the seal of an earlier tuner

  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  int read_inner(void* to, std::int64_t size, std::int64_t offset) {
    return inner()->pMethods->xRead(inner(), to, static_cast<int>(size), offset);
  }
};
SealedFile& of(sqlite3_file* file) { return *static_cast<SealedFile*>(file); }

void read_seal(SealedFile& file) {
  sqlite3_int64 size = 0;
  Seal seal;
  constexpr std::int64_t end = sizeof seal;
  if (file.inner()->pMethods->xFileSize(file.inner(), &size) != SQLITE_OK || size <= end ||
      file.read_inner(&seal, end, size - end) != SQLITE_OK)
    return;
  file.is_of_earlier = seal.bytes == kMarkOfEarlier;
  if (seal.mark != kMark || seal.bytes <= 0 || seal.bytes > size) return;
  std::vector<std::uint64_t> hashes(blocks_in(seal.bytes));
  const auto bytes_of_hashes = static_cast<std::int64_t>(hashes.size() * sizeof hashes[0]);
  if (size != seal.bytes + bytes_of_hashes + end ||
      file.read_inner(hashes.data(), bytes_of_hashes, seal.bytes) != SQLITE_OK || hash_of(hashes) != seal.hash)
    return;
  file.bytes = seal.bytes;
  file.hashes = std::move(hashes);
}

int close(sqlite3_file* file) {
  SealedFile& sealed = of(file);
  const int result = sealed.inner()->pMethods != nullptr ? sealed.inner()->pMethods->xClose(sealed.inner()) : SQLITE_OK;
  sealed.~SealedFile();
  file->pMethods = nullptr;
  return result;
}

int read(sqlite3_file* file, void* buffer, int amount, sqlite3_int64 offset) {
  SealedFile& sealed = of(file);
  if (sealed.hashes.empty()) return sealed.read_inner(buffer, amount, offset);
  char whole[kBlock];
  for (auto* to = static_cast<char*>(buffer); amount > 0;) {
    const std::int64_t block = offset / kBlock, begin = offset % kBlock;
    const int size = size_of_block(block, sealed.bytes);
    if (begin >= size) {
      std::memset(to, 0, static_cast<std::size_t>(amount));
      return SQLITE_IOERR_SHORT_READ;
    }
    const int part = std::min(amount, static_cast<int>(size - begin));
    char* const into = part == size ? to : whole;
    const int result = sealed.read_inner(into, size, block * kBlock);
    if (result != SQLITE_OK) return result == SQLITE_IOERR_SHORT_READ ? SQLITE_CORRUPT : result;
    if (hash_of(into, static_cast<std::size_t>(size)) != sealed.hashes[static_cast<std::size_t>(block)])
      return SQLITE_CORRUPT;
    if (into == whole) std::memcpy(to, whole + begin, static_cast<std::size_t>(part));
    to += part;
    offset += part;
    amount -= part;
  }
  return SQLITE_OK;
}

int size(sqlite3_file* file, sqlite3_int64* bytes) {
  SealedFile& sealed = of(file);
  *bytes = sealed.bytes;
  return sealed.hashes.empty() ? sealed.inner()->pMethods->xFileSize(sealed.inner(), bytes) : SQLITE_OK;
}

const sqlite3_io_methods kMethods = [] {
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = &close;
  methods.xRead = &read;
  methods.xWrite = [](sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; };
  methods.xTruncate = [](sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; };
  methods.xSync = [](sqlite3_file*, int) { return SQLITE_OK; };
  methods.xFileSize = &size;
  methods.xLock = methods.xUnlock = methods.xSync;
  methods.xCheckReservedLock = [](sqlite3_file*, int* held) { return *held = 0, SQLITE_OK; };
  methods.xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; };
  methods.xSectorSize = [](sqlite3_file*) { return static_cast<int>(kBlock); };
  methods.xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; };
  return methods;
}();

int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* at, int flags, int* out_flags) {
  sqlite3_vfs* const system = FileLayer::system(vfs);
  auto& file = *new (at) SealedFile;
  file.pMethods = &kMethods;
  file.inner()->pMethods = nullptr;
  int result = system->xOpen(system, name, file.inner(), flags, out_flags);
  try {
    if (result == SQLITE_OK) read_seal(file);
  } catch (const std::bad_alloc&) {
    result = SQLITE_NOMEM;
  }
  if (result != SQLITE_OK) (void)close(at);
  return result;
}

}  // namespace

std::string seal_of(std::string_view bytes) {
  Seal seal{.bytes = static_cast<std::int64_t>(bytes.size())};
  std::vector<std::uint64_t> hashes;
  for (std::size_t block = 0; block < blocks_in(seal.bytes); ++block)
    hashes.push_back(hash_of(bytes.data() + block * kBlock,
                             static_cast<std::size_t>(size_of_block(static_cast<std::int64_t>(block), seal.bytes))));
  seal.hash = hash_of(hashes);
  std::string text(reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof hashes[0]);
  return text.append(reinterpret_cast<const char*>(&seal), sizeof seal);
}

bool has_sound_seal(std::string_view file) {
  Seal seal;
  if (file.size() < sizeof seal) return false;
  std::memcpy(&seal, file.data() + file.size() - sizeof seal, sizeof seal);
  if (seal.mark != kMark || seal.bytes <= 0 || seal.bytes > static_cast<std::int64_t>(file.size())) return false;
  const auto size = static_cast<std::size_t>(seal.bytes);
  return file.substr(size) == seal_of(file.substr(0, size));
}

FileLayer& sealed_files() {
  static FileLayer& only = *new FileLayer("tuner-sealed", sizeof(SealedFile), &open);
  return only;
}

SealState seal_state(sqlite3* connection) {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file == nullptr ||
      file->pMethods != &kMethods)
    return SealState::none;
  return !of(file).hashes.empty() ? SealState::sound : of(file).is_of_earlier ? SealState::earlier : SealState::none;
}

}  // namespace tuner::cache
