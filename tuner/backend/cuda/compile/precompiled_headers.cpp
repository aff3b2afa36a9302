#include <tuner/backend/cuda/compile/precompiled_headers.hpp>

#include <algorithm>
#include <ctime>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include <cache/records/sha256.hpp>

#include <tuner/core/values/available_memory.hpp>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;

constexpr int kMost = 2;  // in one process
constexpr std::size_t kHeapBytes = std::size_t{1} << 30;
constexpr double kWorthIt = 0.85;  // of the time without it
constexpr int kTries = 4;          // the fastest of them decides: configurations differ

/// Does \p work. Returns its result and the processor's seconds.
std::pair<nvrtcResult, double> timed(const std::function<nvrtcResult()>& work) {
  const std::clock_t begin = std::clock();
  const nvrtcResult result = work();
  return {result, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC};
}

}  // namespace

bool PrecompiledHeaders::has_memory() {
  return available_memory() / std::max(1u, std::thread::hardware_concurrency()) >= kHeapBytes;
}

nvrtcResult PrecompiledHeaders::compile(const Nvrtc& nvrtc, const std::string& head,
                                        const std::vector<std::string>& options, const DeviceHeaders& headers,
                                        std::span<const IncludedFile> files, const Compile& compile) {
  std::vector<std::string_view> parts{head};
  for (const auto* const list : {&options, &headers.names, &headers.texts})
    parts.insert(parts.end(), list->begin(), list->end());
  // NVRTC does not see that a file has changed. They may be many: a fast hash is enough for files of one path.
  std::string hashes;
  for (const IncludedFile& file : files)
    hashes += file.path + ' ' + std::to_string(file.text.size()) + ' ' +
              std::to_string(std::hash<std::string_view>()(file.text)) + '\n';
  parts.push_back(hashes);
  Header& header = headers_[cache::sha256_of_parts(parts)];
  using State = Header::State;
  if (header.state == State::useless) return compile({});
  if (header.state == State::slow) return make(nvrtc, header, compile);
  const bool is_made = header.state == State::made;
  const auto [result, seconds] = timed([&] { return compile(is_made ? "--use-pch=" + header.file.string() : ""); });
  if (result != NVRTC_SUCCESS) {
    if (!is_made) return result;
    const nvrtcResult plain = compile({});  // the file may be gone
    if (plain == NVRTC_SUCCESS) drop(header);
    return plain;
  }
  if (is_made) {
    header.fastest = std::min(header.fastest, seconds);
    if (++header.uses == kTries && header.fastest > kWorthIt * header.seconds) drop(header);
  } else {
    header.seconds = seconds;
    header.state = seconds >= long_s_ && made_ < kMost ? State::slow : State::useless;
  }
  return result;
}

/// Makes \p header by a compile. If that fails, compiles without it: the disk may be full.
nvrtcResult PrecompiledHeaders::make(const Nvrtc& nvrtc, Header& header, const Compile& compile) {
  const auto without = [&] {
    const nvrtcResult result = compile({});
    if (result == NVRTC_SUCCESS) header.state = Header::State::useless;
    return result;
  };
  try {
    if (made_ >= kMost || !has_room_()) return without();
    if (where_.empty()) where_ = folder_();
  } catch (const std::exception&) {  // no folder can be made
    return without();
  }
  if (made_ == 0 && nvrtc.set_pch_heap_size != nullptr) nvrtc.set_pch_heap_size(kHeapBytes);
  header.file = where_ / ("headers" + std::to_string(made_));
  if (compile("--create-pch=" + header.file.string()) != NVRTC_SUCCESS) return without();
  ++made_;
  std::error_code error;
  const bool is_made = fs::file_size(header.file, error) > 0 && !error;
  header.state = is_made ? Header::State::made : Header::State::useless;
  return NVRTC_SUCCESS;
}

void PrecompiledHeaders::drop(Header& header) {
  header.state = Header::State::useless;
  std::error_code ignored;
  fs::remove(header.file, ignored);
}

}  // namespace tuner::cuda
