#include <tuner/backend/cuda/run/support_kernels.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <cache/file/paths.hpp>
#include <cache/query/image_files.hpp>
#include <cache/records/json.hpp>
#include <cache/records/sha256.hpp>

namespace tuner::cuda {

namespace {

std::string support_text(std::string_view name) {
  for (const SupportFile& file : support_files())
    if (file.name == name) return std::string(file.text);
  throw Error("tuner has no embedded kernels called " + std::string(name));
}

/// For NVRTC, which has these functions under other names.
std::string fill_value_text() {
  constexpr std::string_view once = "#pragma once\n";
  return "#define __builtin_memcpy memcpy\n"
         "#define __builtin_huge_val() __longlong_as_double(0x7ff0000000000000LL)\n" +
         support_text("fill_value.hpp").substr(once.size());
}

}  // namespace

CompileRequest support_request(std::string_view file, std::vector<std::string> kernels,
                               const std::string& architecture) {
  std::string text = support_text(file);
  if (file == "data.cu") text = fill_value_text() + text;
  return {std::move(text), "tuner/support/" + std::string(file), std::move(kernels), {}, architecture};
}

namespace {

cache::Image to_store(const Image& image) {
  Json symbols = Json::array();
  for (const CompiledFunction& function : image.functions) symbols.push_back(function.symbol);
  return {{reinterpret_cast<const char*>(image.code.data()), image.code.size()},
          text_of_json(Json{{"symbols", std::move(symbols)}})};
}

/// Only what SupportKernels needs. nullopt: another release wrote it.
std::optional<Image> image_of(const cache::Image& stored, const CompileRequest& request) try {
  const auto symbols = json_of_text(stored.meta).at("symbols").get<std::vector<std::string>>();
  if (symbols.size() != request.expressions.size()) return std::nullopt;
  Image image;
  for (std::size_t i = 0; i < symbols.size(); ++i) image.functions.push_back({request.expressions[i], symbols[i], {}});
  const auto* const bytes = reinterpret_cast<const std::byte*>(stored.bytes.data());
  image.code.assign(bytes, bytes + stored.bytes.size());
  return image;
} catch (const Json::exception&) {
  return std::nullopt;
}

}  // namespace

CompileResult compile_support(Compiler& compiler, const CompileRequest& request) {
  const auto folder = cache::user_cache_dir();
  if (!folder) return compiler.compile(request);
  const std::string identity = compiler.identity(), place = "support-" + request.architecture;
  std::vector<std::string_view> parts{identity, request.source};
  parts.insert(parts.end(), request.expressions.begin(), request.expressions.end());
  const std::string key = cache::sha256_of_parts(parts);
  if (const auto stored = cache::kept_image(*folder, place, key, {}))
    if (auto image = image_of(*stored, request)) return *std::move(image);
  CompileResult compiled = compiler.compile(request);
  if (const auto* image = std::get_if<Image>(&compiled)) (void)cache::keep_image(*folder, place, key, to_store(*image));
  return compiled;
}

SupportKernels::SupportKernels(const CompileResult& compiled) {
  if (const CompileError* error = std::get_if<CompileError>(&compiled))
    throw Error("tuner's own kernels do not compile: " + error->message + "\n" + error->log);
  const Image& image = std::get<Image>(compiled);
  module_ = load_module(image.code.data());
  for (const CompiledFunction& kernel : image.functions) {
    CUfunction function = nullptr;
    check(driver().cuModuleGetFunction(&function, module_.get(), kernel.symbol.c_str()), "cuModuleGetFunction");
    functions_.push_back(function);
  }
}

// ---------------------------------------------------------------- data.cu

namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kBlocksPerSm = 16;

enum Kernel : std::size_t { kFill, kCompare, kFingerprint };

}  // namespace

CompileRequest DataKernels::request(const std::string& architecture) {
  return support_request("data.cu", {"tuner_support::fill", "tuner_support::compare", "tuner_support::fingerprint"},
                         architecture);
}

DataKernels::DataKernels(const CompileResult& compiled, CUstream stream, int sm_count)
    : kernels_(compiled), stream_(stream), most_blocks_(static_cast<std::size_t>(sm_count) * kBlocksPerSm) {}

void DataKernels::fill(CUdeviceptr to, ElementType type, std::size_t count, const Fill& fill,
                       std::uint64_t seed) const {
  launch_support(kernels_[kFill], blocks_for(count), kThreads, stream_, to, static_cast<int>(type),
                 static_cast<unsigned long long>(count), static_cast<int>(fill.kind), fill.low, fill.high,
                 static_cast<unsigned long long>(seed));
}

void DataKernels::compare(CUdeviceptr actual, CUdeviceptr expected, ElementType type, std::size_t count,
                          const Tolerance& tolerance, CUdeviceptr result) const {
  zero(result, sizeof(RawComparison));
  launch_support(kernels_[kCompare], blocks_for(count), kThreads, stream_, actual, expected, static_cast<int>(type),
                 static_cast<unsigned long long>(count), tolerance.relative, tolerance.absolute,
                 static_cast<int>(tolerance.is_place), result);
}

void DataKernels::fingerprint(CUdeviceptr from, std::size_t bytes, CUdeviceptr result) const {
  zero(result, sizeof(std::uint64_t));
  launch_support(kernels_[kFingerprint], blocks_for((bytes + 7) / 8), kThreads, stream_, from,
                 static_cast<unsigned long long>(bytes), result);
}

unsigned DataKernels::blocks_for(std::size_t items) const {
  return static_cast<unsigned>(std::min((items + kThreads - 1) / kThreads, most_blocks_));
}

void DataKernels::zero(CUdeviceptr result, std::size_t bytes) const {
  check(driver().cuMemsetD8Async(result, 0, bytes, stream_), "cuMemsetD8Async");
}

}  // namespace tuner::cuda
