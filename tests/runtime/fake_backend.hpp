#pragma once
/// A backend that records what is enqueued.

#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/error.hpp>

namespace tuner::testing {

class FakeModule final : public Module {
 public:
  Resources resources(std::size_t, const LaunchShape&) const override { return {}; }
};

class FakeCompiler final : public Compiler {
 public:
  CompileResult compile(const CompileRequest& request) override {
    ++compiles;
    for (const std::string& expression : request.expressions)
      if (broken.count(expression) > 0) return CompileError{expression + " is broken", "line 1\nline 2"};
    return Image{{makes}, {}, {}};
  }
  std::string identity() const override { return "fake"; }

  std::set<std::string> broken = {};  // expressions
  std::byte makes{1};
  std::size_t compiles = 0;
};

class FakeMemory final : public DeviceMemory {
 public:
  FakeMemory(std::size_t bytes, std::shared_ptr<std::size_t> in_use)
      : storage_(bytes + 256), in_use_(std::move(in_use)) {
    *in_use_ += bytes;
  }
  ~FakeMemory() override { *in_use_ -= bytes(); }
  DevicePointer address() const override {
    return (reinterpret_cast<DevicePointer>(storage_.data()) + 255) & ~DevicePointer{255};
  }
  std::size_t bytes() const override { return storage_.size() - 256; }

 private:
  std::vector<char> storage_;
  std::shared_ptr<std::size_t> in_use_;
};

class FakeBackend : public Backend {
 public:
  struct Enqueued {
    std::size_t function = 0;
    LaunchShape shape;
    std::vector<std::uint64_t> parameters;  // the first 8 bytes of each
    void* stream = nullptr;
  };

  /// Images of the host are not kept, those of "cuda" are.
  explicit FakeBackend(const char* backend = "host") { device_.key.backend = backend; }
  const Device& device() const override { return device_; }
  std::string architecture() const override { return "fake"; }
  FakeCompiler& compiler() override { return compiler_; }
  std::variant<std::unique_ptr<Module>, LaunchError> load(const Image& image) override {
    if (!loads || (!image.code.empty() && image.code[0] == refuses)) return LaunchError{"it is full"};
    return std::make_unique<FakeModule>();
  }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    if (*in_use + bytes > room) throw Error("out of memory");
    ++allocations;
    return std::make_unique<FakeMemory>(bytes, in_use);
  }
  void upload(DevicePointer to, const void* from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  }
  void download(void*, DevicePointer, std::size_t) override {}
  void fill_bytes(DevicePointer to, unsigned char value, std::size_t bytes) override {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
  }
  void fill(DevicePointer, ElementType, std::size_t, const Fill&, std::uint64_t) override {}
  Comparison compare(DevicePointer, DevicePointer, ElementType, std::size_t, const Tolerance&) override { return {}; }
  std::uint64_t fingerprint(DevicePointer, std::size_t) override { return 0; }
  std::optional<Outcome> run(std::span<const Launch>, double) override { return std::nullopt; }
  SampleResult sample(std::span<const Launch>, const SampleRequest&) override { return std::vector<Sample>{}; }
  void enqueue(const Module&, std::size_t function, const LaunchShape& shape, void* const* parameters,
               void* stream) override {
    Enqueued entry{function, shape, {}, stream};
    for (std::size_t i = 0; i < parameters_per_launch; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, parameters[i], parameter_bytes.empty() ? 8 : parameter_bytes[i]);
      entry.parameters.push_back(bits);
    }
    enqueued.push_back(entry);
  }
  void synchronize(void*) override {}
  bool usable() const override { return true; }

  std::vector<Enqueued> enqueued;
  std::size_t parameters_per_launch = 0;
  std::vector<std::size_t> parameter_bytes;
  std::size_t allocations = 0, room = std::size_t{1} << 40;
  const std::shared_ptr<std::size_t> in_use = std::make_shared<std::size_t>(0);  ///< bytes
  bool loads = true;
  std::byte refuses{0};  // images that begin with it

 private:
  FakeCompiler compiler_;
  Device device_;
};

}  // namespace tuner::testing
